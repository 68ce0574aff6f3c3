/** One deployment, followed until its confirmation is known. */

import { api } from "../api.js";
import { h, update } from "../dom.js";
import { badge, facts } from "../elements/facts.js";
import { heading, help } from "../elements/heading.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { when } from "../format.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";
import { pause } from "../transport.js";
import { phoneNames, phoneTitle, username } from "./accounts.js";

const POLL_MS = 1000;

/** @typedef {import("../../types").Deployment} Deployment */

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], signal }) {
  const path = `deployments/${encodeURIComponent(uuid)}`;
  const { data } = await api.get(path, signal);
  const [by, names] = await Promise.all([username(data.user_uuid), phoneNames([data.mac], signal)]);
  const phone = phoneTitle({ mac: data.mac, name: names.get(data.mac) });
  draw(element, data, phone, by);
  void follow(path, data, signal, (deployment) => draw(element, deployment, phone, by)).catch(() => {});
}

/** @param {Deployment} deployment */
export function isOver(deployment) {
  return deployment.outcome !== "running" && deployment.confirmation !== "pending";
}

/**
 * Read the deployment each second until nothing more can happen.
 *
 * @param {string} path
 * @param {Deployment} deployment
 * @param {AbortSignal} signal
 * @param {(deployment: Deployment) => void} changed
 */
export async function follow(path, deployment, signal, changed) {
  while (!isOver(deployment)) {
    await pause(POLL_MS, signal);
    deployment = (await api.get(path, signal)).data;
    changed(deployment);
  }
}

/** Why a deployment failed, or why the phone did not come back. @param {Deployment} deployment */
export function problemOf({ outcome, message, restart, confirmation, confirmation_message: seen }) {
  if (message && outcome !== "deployed") return inWords(message);
  if (confirmation === "confirmed") return "";
  if (outcome === "deployed" && restart !== null && restart !== "ok") return inWords(restart);
  return inWords(seen ?? "");
}

/** Whether the phone was seen again; nothing for a change that did not reach it.
 * @param {Deployment} deployment */
export const confirmationOf = ({ outcome, confirmation }) =>
  outcome === "deployed" ? texts.confirmations[confirmation] : "";

/** The outcome in one word: that the phone was not seen again counts more than the upload.
 * @param {Deployment} deployment */
export function outcomeOf({ outcome, confirmation }) {
  const isOpen = outcome === "deployed" && ["pending", "not_confirmed"].includes(confirmation);
  return isOpen ? badge(confirmation, texts.confirmations) : badge(outcome, texts.outcomes);
}

/** @param {HTMLElement} element @param {Deployment} deployment @param {string} phone @param {string} by */
function draw(element, deployment, phone, by) {
  const { mac, profile_uuid, profile_name, revision, message } = deployment;
  const isOfStep = deployment.steps.some((step) => step.message === message);
  update(
    element,
    heading(`${texts.actions[deployment.action] ?? deployment.action}: ${phone}`, help("how-to/put-back")),
    facts([
      [texts.outcome, badge(deployment.outcome, texts.outcomes)],
      ...(message && !isOfStep ? [/** @type {[string, string]} */ ([texts.message, inWords(message)])] : []),
      [texts.phone, h("a", { href: `#/phones/${mac}` }, phone)],
      [
        texts.profile,
        h("a", { href: `#/profiles/${profile_uuid}` }, texts.profileRevision(profile_name, revision)),
      ],
      [texts.at, when(deployment.created_at)],
      [texts.by, by],
    ]),
    h("div", { "aria-live": "polite" }, stepTimeline(deployment)),
  );
}
