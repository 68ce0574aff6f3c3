/** Switching a phone: choose profile and phone, preview, switch, follow the steps. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { badge, facts } from "../elements/facts.js";
import { MOST_CHOICES, picker } from "../elements/picker.js";
import { sideBySide } from "../elements/side-by-side.js";
import { simpleTable } from "../elements/simple-table.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { pause } from "../api.js";
import { texts } from "../texts.js";
import { isOver } from "./deployment.js";

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  const profile = picker({
    label: texts.profile,
    chosen: query.has("profile") ? `phone-profiles/${query.get("profile")}` : "",
    path: (q) => withQuery("phone-profiles", { q, limit: MOST_CHOICES }),
    option: (one) => ({ value: one.uuid, text: one.name }),
  });
  const phone = picker({
    label: texts.phone,
    chosen: query.has("mac") ? `phones/${query.get("mac")}` : "",
    path: (q) => withQuery("phones", { q, limit: MOST_CHOICES }),
    option: (one) => ({
      value: one.mac,
      text: [one.mac, one.name, one.model, one.location].filter(Boolean).join(", "),
    }),
  });
  const result = h("div", { "aria-live": "polite" });
  const order = () => ({ profile_uuid: profile.value(), mac: phone.value() });
  const previewButton = h("button", { type: "submit" }, texts.preview);
  const switchButton = h(
    "button",
    { type: "button", className: "primary", onclick: () => act(() => run(result, order(), signal)) },
    texts.doSwitch,
  );

  /** @param {() => Promise<void>} work */
  async function act(work) {
    previewButton.disabled = switchButton.disabled = true;
    fill(result, h("p", {}, texts.loading));
    try {
      await work();
    } catch (error) {
      fill(result, errorBox(error));
    } finally {
      previewButton.disabled = switchButton.disabled = false;
    }
  }

  fill(
    element,
    h("h1", {}, texts.switchTitle),
    h(
      "form",
      {
        className: "record",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void act(() => preview(result, order(), signal));
        },
      },
      profile.element,
      phone.element,
      h("div", { className: "actions" }, previewButton, switchButton),
    ),
    result,
  );
  await Promise.all([profile.ready, phone.ready]);
}

/** @param {HTMLElement} element @param {object} order @param {AbortSignal} signal */
async function preview(element, order, signal) {
  const { data } = await api.post("phone-profiles/switch/preview", order, signal);
  fill(
    element,
    h("h2", {}, texts.preview),
    h("p", { className: data.compatible ? "good" : "error" }, data.objection ?? texts.compatible),
    facts([
      [texts.profile, `${data.profile}, ${texts.revision.toLowerCase()} ${data.revision}`],
      [texts.serverReach, reach(data.server)],
      [texts.phoneReach, reach(data.phone)],
      ...needsReset(data.needs_reset),
    ]),
    h("h3", {}, texts.changes),
    data.diff ? sideBySide(data.diff, texts.before, texts.after) : h("p", {}, data.diff_note ?? texts.unchanged),
    h("h3", {}, texts.findings),
    simpleTable(
      texts.findings,
      [texts.line, "", texts.message],
      data.findings.map((/** @type {any} */ one) => [
        one.line,
        badge(one.severity, texts.severities),
        one.message,
      ]),
      texts.noFindings,
    ),
  );
}

/** @param {string[]} elements @returns {[string, string][]} */
function needsReset(elements) {
  return elements.length > 0 ? [[texts.needsReset, elements.join(", ")]] : [];
}

/** @param {{reachable: boolean | null, message: string}} found */
function reach({ reachable, message }) {
  const word =
    reachable === null ? texts.notKnown : reachable ? texts.reachable : texts.notReachable;
  return `${word}: ${message}`;
}

/** @param {HTMLElement} element @param {{mac: string}} order @param {AbortSignal} signal */
async function run(element, order, signal) {
  const path = `phones/${encodeURIComponent(order.mac)}/deployments`;
  const { metadata } = await api.get(`${path}?limit=1`, signal);
  const offset = metadata.total ?? 0;
  let isAnswered = false;
  /** @type {unknown} */
  let problem = null;
  const switching = api.post("phone-profiles/switch", order).then(
    () => (isAnswered = true),
    (error) => {
      problem = error;
      isAnswered = true;
    },
  );
  fill(element, h("p", {}, texts.switching));
  for (;;) {
    await Promise.race([pause(500, signal), isAnswered ? pause(500, signal) : switching]);
    const { data } = await api.get(withQuery(path, { limit: 1, offset }), signal);
    const [deployment] = data;
    if (deployment) {
      fill(
        element,
        h("h2", {}, texts.outcomes[deployment.outcome] ?? deployment.outcome),
        problem !== null && errorBox(problem),
        stepTimeline(deployment),
        h("a", { className: "button", href: `#/phones/${deployment.mac}` }, texts.phone),
      );
      if (isAnswered && isOver(deployment)) return;
    } else if (isAnswered) {
      if (problem !== null) throw problem;
      return;
    }
  }
}
