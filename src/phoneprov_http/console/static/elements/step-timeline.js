/** The steps of a deployment and its confirmation, as they happen. */

import { h } from "../dom.js";
import { duration } from "../format.js";
import { icon } from "../icons.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";
import { meaningOf } from "./facts.js";

const STEPS = ["upload", "clear_session", "restart"];

/** @param {import("../../types").Deployment} deployment
 * @param {string} [shown] a message that stands above the steps already */
export function stepTimeline(deployment, shown = "") {
  const done = new Map(deployment.steps.map((step) => [/** @type {string} */ (step.name), step]));
  const running = deployment.outcome === "running";
  // A running record has no steps yet; the place is known as soon as the upload is verified.
  const at = done.size > 0 ? done.size : deployment.place === null ? 0 : 1;
  const names = done.has("lines") ? [...STEPS, "lines"] : STEPS;
  const items = names.map((name, position) => {
    const step = done.get(name);
    if (step) {
      const isUnknown = step.ok === null || (name === "upload" && deployment.outcome === "unknown");
      const state = isUnknown ? "unknown" : step.ok ? "done" : "failed";
      return item(state, texts.steps[name], [inWords(step.message ?? "") === shown ? null : step.message, duration(step.duration_ms)]);
    }
    if (running && position < at) return item("done", texts.steps[name], []);
    if (running && position === at) return item("running", texts.steps[name], []);
    return item(running ? "waiting" : "skipped", texts.steps[name], []);
  });
  const { confirmation, confirmation_message: message } = deployment;
  const state =
    { confirmed: "done", pending: "running", not_confirmed: "failed" }[
      /** @type {"confirmed"} */ (confirmation)
    ] ?? (running ? "waiting" : "skipped");
  const said = state === "waiting" ? "" : `: ${texts.confirmations[confirmation]}`;
  items.push(item(state, texts.confirmation + said, [message]));
  return h("ol", { className: "timeline" }, ...items);
}

/** @param {string} state @param {string} title @param {(string | null)[]} details */
function item(state, title, details) {
  const word = {
    done: texts.stepDone,
    failed: texts.stepFailed,
    running: texts.stepRunning,
    waiting: texts.stepWaiting,
    skipped: texts.stepSkipped,
    unknown: texts.stepUnknown,
  }[/** @type {"done"} */ (state)];
  return h(
    "li",
    { className: state },
    h("span", { className: "state" }, icon(meaningOf(state)), word),
    h("strong", {}, title),
    ...details.map((text) => text && h("span", { className: "detail" }, inWords(text))),
  );
}
