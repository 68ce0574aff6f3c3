/** Switching a phone: choose profile and phone, preview, confirm, follow the steps. */

import { api, withQuery } from "../api.js";
import { fill, h, update } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { errorBox, messageOf } from "../elements/error-box.js";
import { facts } from "../elements/facts.js";
import { heading, help } from "../elements/heading.js";
import { choices, picker } from "../elements/picker.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { texts } from "../texts.js";
import { pause } from "../transport.js";
import { phoneChoice, phoneTitle } from "./accounts.js";
import { isOver, problemOf } from "./deployment.js";
import { deployedOn } from "./phone.js";
import { previewed } from "./preview.js";

/** @typedef {{profile_uuid: string, mac: string}} Order */

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  const outdated = () => fill(result, h("p", { className: "empty" }, texts.switchStart));
  const profile = picker({
    label: texts.profile,
    chosen: query.has("profile") ? `phone-profiles/${query.get("profile")}` : "",
    path: choices("phone-profiles"),
    option: (one) => ({ value: one.uuid, text: one.name }),
    changed: outdated,
  });
  const phone = picker({
    label: texts.phone,
    chosen: query.has("mac") ? `phones/${query.get("mac")}` : "",
    path: choices("phones"),
    option: phoneChoice,
    changed: outdated,
  });
  const result = h("div", { "aria-live": "polite" });
  // Each says what is missing; the focus goes to the first.
  const isChosen = () => [profile, phone].map((one) => one.isChosen()).every(Boolean);
  const order = () => ({ profile_uuid: profile.value(), mac: phone.value() });
  const previewButton = h("button", { type: "submit" }, texts.preview);
  const switchButton = h(
    "button",
    { type: "button", className: "primary", onclick: () => isChosen() && act(confirmed) },
    texts.doSwitch,
  );

  /** @param {() => Promise<void>} work */
  async function act(work) {
    previewButton.disabled = switchButton.disabled = true;
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) fill(result, errorBox(error));
    } finally {
      previewButton.disabled = switchButton.disabled = false;
    }
  }

  async function preview() {
    fill(result, h("p", {}, texts.loading));
    const { data } = await api.post("phone-profiles/switch/preview", order(), signal);
    fill(result, h("h2", {}, texts.preview), ...previewed(data));
  }

  /** The question names the phone, what is on it now and what it gets. */
  async function confirmed() {
    const chosen = order();
    const { current } = await deployedOn(`phones/${encodeURIComponent(chosen.mac)}`, signal);
    const details = h(
      "div",
      {},
      facts([
        [texts.now, current ? texts.profileRevision(current.profile_name, current.revision) : texts.notKnownHere],
        [texts.then, profile.text()],
      ]),
      h("p", {}, texts.switchHint),
    );
    const question = texts.switchQuestion(phoneTitle(phone.row()), profile.text());
    if (await ask(question, texts.doSwitch, { details })) await run(result, chosen, signal);
  }

  outdated();
  const form = h(
    "form",
    {
      className: "record panel",
      noValidate: true,
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (isChosen()) void act(preview);
      },
    },
    phone.element,
    profile.element,
    h("div", { className: "actions" }, previewButton, switchButton),
  );
  fill(element, heading(texts.switchTitle, help("explanation/switch")), h("div", { className: "beside" }, form, result));
  await Promise.all([profile.ready, phone.ready]);
}

/** @param {HTMLElement} element @param {Order} order @param {AbortSignal} signal */
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
      const reason = problem === null ? problemOf(deployment) : "";
      update(
        element,
        h("h2", {}, texts.outcomes[deployment.outcome] ?? deployment.outcome),
        problem !== null && errorBox(problem),
        reason && h("p", { className: "error" }, reason),
        stepTimeline(deployment, problem === null ? reason : messageOf(problem)),
        h("a", { className: "button", href: `#/phones/${deployment.mac}` }, texts.phone),
      );
      if (isAnswered && isOver(deployment)) return;
    } else if (isAnswered) {
      if (problem !== null) throw problem;
      return;
    }
  }
}
