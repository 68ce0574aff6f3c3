/** Desks, the dialog of one, and the switch of a profile at a phone. */

import { api, withQuery } from "../api.js";
import { ago, fill, h, update } from "../dom.js";
import { stepTimeline } from "../elements/chart.js";
import { dataList } from "../elements/data-list.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { ask, errorBox, facts, heading, help, messageOf } from "../elements/parts.js";
import { searchBar, yesOrNo } from "../elements/search-bar.js";
import { field } from "../fields.js";
import { guard } from "../navigation.js";
import { texts } from "../texts.js";
import { previewed } from "./profile-parts.js";
import { EXTENSIONS, NUMBER, NUMBER_FILTER, PHONES, PROFILES, batchButton, begun, deployedOn, editButton, follow, phoneTitle, problemOf, withNumbers } from "./shared.js";

/** @typedef {import("../../types").PhoneSummary} PhoneSummary */
/** @typedef {{profile_uuid: string, mac: string}} Order */

// The settings of a desk: its default profile and number, and whether users may log in there.

/** What an emergency call from a phone presents, by its location. Only level 0 may ask.
 * @param {string} path @param {AbortSignal} [signal]
 * @returns {Promise<{emergency_number?: string, emergency_place?: string}>} */
export async function emergencyOf(path, signal) {
  return (await api.get(withQuery(`${path}/lines`, { limit: 1 }), signal)).metadata;
}

/** Whether users may log in at a phone from now on: it is asked if an emergency call from there would present
 * the number of a user. @param {string} path @param {string} name */
async function mayOpen(path, name) {
  const { emergency_number: number } = await emergencyOf(path);
  const details = h("p", {}, texts.openHint, " ", h("a", { href: "#/locations" }, texts.locations));
  return Boolean(number) || ask(texts.openQuestion(name), texts.openDesk, { details });
}

/** @param {string} path @param {string} name @param {import("../../types").Desk} desk
 * @param {() => void} changed */
export async function deskForm(path, name, desk, changed) {
  const { default_profile_uuid: current } = desk;
  const profile = picker({
    label: texts.defaultProfile,
    none: texts.noDefault,
    isOptional: true,
    chosen: current ? `phone-profiles/${current}` : "",
    path: choices("phone-profiles"),
    ...PROFILES,
  });
  const number = picker({
    label: texts.ownNumber,
    none: texts.noOwnNumber,
    isOptional: true,
    chosen: desk.extension_uuid ? `extensions/${desk.extension_uuid}` : "",
    path: choices("extensions", "extension", { type: "chan_sccp" }),
    ...EXTENSIONS,
  });
  const { form } = recordForm(
    [
      field("hotdesk", { kind: "checkbox" }),
      field("ends_at", { hint: texts.endsAtHint(Intl.DateTimeFormat().resolvedOptions().timeZone) }),
    ],
    desk,
    async (values) =>
      values.hotdesk && !(await mayOpen(path, name)) ? null : api.put(`${path}/desk`, { ...values, ...changes() }),
    {
      changesOnly: true,
      isSecond: true,
      said: () => texts.deskSaved(name),
      saved: () => {
        before = chosen();
        changed();
      },
    },
  );
  form.prepend(profile.element, number.element);
  await Promise.all([profile.ready, number.ready]);
  const chosen = () => ({ default_profile_uuid: profile.value() || null, extension_uuid: number.value() || null });
  /** @type {Record<string, string | null>} */
  let before = chosen();
  // Another tab may have changed the others.
  const changes = () => Object.fromEntries(Object.entries(chosen()).filter(([name, value]) => value !== before[name]));
  guard(() => form.isConnected && Object.keys(changes()).length > 0);
  return h("section", {}, h("h2", {}, texts.deskSettings), form);
}

// The desks: who is logged in where, and the default profile of each phone.

/** @type {import("../router.js").View} */
export async function desksView({ element, query }) {
  const list = /** @type {import("../elements/data-list.js").DataList<PhoneSummary>} */ (dataList());
  const search = searchBar(
    "/desks",
    [NUMBER_FILTER, yesOrNo("in_use", texts.onlyUsed)],
    query,
    () => void list.reload(),
    { list },
  );
  element.classList.add("with-list");
  fill(element, heading(texts.desks, help("how-to/hot-desking")), search.element, list);
  await list.configure({
    caption: texts.desks,
    name: "desks",
    path: () => withQuery("phones/summaries", search.values()),
    file: () => withQuery("desks", search.values()),
    rows: (phones, signal) => withNumbers("phones", phones, signal),
    columns: [
      { title: texts.name, cell: (one) => one.name ?? one.mac, sort: "name" },
      { title: texts.mac, cell: (one) => one.mac, sort: "mac", width: "11.5rem", isOptional: true },
      NUMBER,
      { title: texts.location, cell: (one) => one.location, sort: "location", isOptional: true },
      { title: texts.deskUser, cell: (one) => one.use.username, sort: "username" },
      {
        title: texts.since,
        cell: (one) => ago(one.use.since),
        isOptional: true,
        width: "9rem",
      },
      { title: texts.profile, cell: (one) => one.use.profile_name, sort: "profile_name", isOptional: true, isWide: true },
      { title: texts.defaultProfile, cell: (one) => one.use.default_profile_name },
      { title: texts.hotdesk, cell: (one) => (one.use.hotdesk ? texts.yes : texts.no), isOptional: true, width: "10rem" },
    ],
    key: (one) => one.mac,
    actions: (macs) => [batchButton(macs), editButton("phones", macs)],
    href: (one) => `#/phones/${one.mac}?tab=desk`,
    empty: () => search.empty(texts.noDesks),
  });
}

// Switching a phone: choose profile and phone, preview, confirm, follow the steps.

/** @type {import("../router.js").View} */
export async function switchView({ element, query, signal }) {
  const outdated = () => fill(result, h("p", { className: "empty" }, texts.switchStart));
  const profile = picker({
    label: texts.profile,
    chosen: query.has("profile") ? `phone-profiles/${query.get("profile")}` : "",
    path: choices("phone-profiles"),
    ...PROFILES,
    changed: outdated,
  });
  const phone = picker({
    label: texts.phone,
    chosen: query.has("mac") ? `phones/${query.get("mac")}` : "",
    path: choices("phones"),
    ...PHONES,
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
    const question = texts.switchQuestion(phoneTitle(phone.row()), profile.row().name);
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
  await Promise.all([profile.ready, phone.ready]);
  fill(element, heading(texts.switchTitle, help("explanation/switch")), h("div", { className: "beside" }, form, result));
}

/** @param {HTMLElement} element @param {Order} order @param {AbortSignal} signal */
async function run(element, order, signal) {
  fill(element, h("p", {}, texts.switching));
  const path = `phones/${encodeURIComponent(order.mac)}`;
  const begin = await begun(path, () => api.post("phone-profiles/switch", order), signal);
  if (begin === null) return;
  let { deployment } = begin;
  /** @param {unknown} problem */
  const draw = (problem) => {
    const reason = problem === null ? problemOf(deployment) : "";
    update(
      element,
      h("h2", {}, texts.outcomes[deployment.outcome] ?? deployment.outcome),
      problem !== null && errorBox(problem),
      reason && h("p", { className: "error" }, reason),
      stepTimeline(deployment, problem === null ? reason : messageOf(problem)),
      h("a", { className: "button", href: `#/phones/${deployment.mac}` }, texts.phone),
    );
  };
  draw(null);
  await follow(`deployments/${deployment.uuid}`, deployment, signal, (now) => {
    deployment = now;
    draw(null);
  });
  draw(await begin.answer);
}
