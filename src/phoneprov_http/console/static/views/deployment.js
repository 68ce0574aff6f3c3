/** One deployment, followed until its confirmation is known. */

import { api, pause } from "../api.js";
import { fill, h } from "../dom.js";
import { badge, facts } from "../elements/facts.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { texts } from "../texts.js";
import { username } from "./accounts.js";

const POLL_MS = 1000;

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], signal }) {
  const path = `deployments/${encodeURIComponent(uuid)}`;
  const { data } = await api.get(path, signal);
  const by = await username(data.user_uuid, signal);
  draw(element, data, by);
  void follow(element, path, data, by, signal).catch(() => {});
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
 * @param {string} by
 * @param {AbortSignal} signal
 */
async function follow(element, path, deployment, by, signal) {
  while (!isOver(deployment)) {
    await pause(POLL_MS, signal);
    deployment = (await api.get(path, signal)).data;
    draw(element, deployment, by);
  }
}

/** @param {HTMLElement} element @param {any} deployment @param {string} by */
function draw(element, deployment, by) {
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
      [texts.at, texts.when(deployment.created_at)],
      [texts.by, by],
    ]),
    h("div", { "aria-live": "polite" }, stepTimeline(deployment)),
  );
}
