/** One deployment, followed until its confirmation is known. */

import { api, pause } from "../api.js";
import { fill, h } from "../dom.js";
import { badge, facts } from "../elements/facts.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { texts } from "../texts.js";

const POLL_MS = 1000;

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], signal }) {
  const path = `deployments/${encodeURIComponent(uuid)}`;
  const { data } = await api.get(path, signal);
  draw(element, data);
  void follow(element, path, data, signal).catch(() => {});
}

/** @param {any} deployment */
export function isOver(deployment) {
  return deployment.outcome !== "running" && deployment.confirmation !== "pending";
}

/**
 * Draw the deployment again each second until nothing more can happen.
 *
 * @param {HTMLElement} element
 * @param {string} path
 * @param {any} deployment
 * @param {AbortSignal} signal
 */
async function follow(element, path, deployment, signal) {
  while (!isOver(deployment)) {
    await pause(POLL_MS, signal);
    deployment = (await api.get(path, signal)).data;
    draw(element, deployment);
  }
}

/** @param {HTMLElement} element @param {any} deployment */
function draw(element, deployment) {
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, `${texts.actions[deployment.action] ?? deployment.action}: ${deployment.mac}`),
      h("a", { className: "button", href: `#/phones/${deployment.mac}` }, texts.phone),
    ),
    facts([
      [texts.profile, deployment.profile_name],
      [texts.revision, deployment.revision],
      [texts.outcome, badge(deployment.outcome, texts.outcomes)],
      [texts.message, deployment.message],
      [texts.since, texts.when(deployment.created_at)],
    ]),
    h("div", { "aria-live": "polite" }, stepTimeline(deployment)),
  );
}
