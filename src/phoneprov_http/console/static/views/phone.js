/** One phone: what is on it and whether the last change failed, then its parts as tabs. */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h, update } from "../dom.js";
import { ask, show } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { badge, facts } from "../elements/facts.js";
import { auditLink, heading, help } from "../elements/heading.js";
import { notice } from "../elements/notice.js";
import { recordForm } from "../elements/record-form.js";
import { removed } from "../elements/removal.js";
import { tabs } from "../elements/tabs.js";
import { phoneFields } from "../fields.js";
import { ago } from "../format.js";
import { icon } from "../icons.js";
import { go, here, readdress } from "../navigation.js";
import { showAgain } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { pause } from "../transport.js";
import { addressOf, optional, phoneTitle } from "./accounts.js";
import { isOver } from "./deployment.js";
import { onPhone } from "./on-phone.js";
import { deskPart, drillsPart, fetchesPart, historyPart, linesPart, modulesPart } from "./phone-parts.js";
import { replacePhone } from "./replace.js";
import { rollBack } from "./roll-back.js";

const POLL_MS = 1500;

/** @typedef {import("../../types").Phone} Phone */

/** What is on a phone, and its newest deployment, as far as the caller may see them.
 * @param {string} path @param {AbortSignal} signal */
export async function deployedOn(path, signal) {
  const newest = { before: NEWEST, limit: 1 };
  const [current, last] = await Promise.all([
    api.get(withQuery(`${path}/deployments`, { ...newest, current: true }), signal),
    api.get(withQuery(`${path}/deployments`, newest), signal),
  ]);
  return { current: current.data[0] ?? null, last: last.data[0] ?? null };
}

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [mac], query, signal }) {
  const path = `phones/${encodeURIComponent(mac)}`;
  const [phone, deployed] = await Promise.all([
    api.get(path, signal).then(({ data }) => data),
    deployedOn(path, signal),
  ]);
  const seen = session.seesPeople ? await optional(api.get(`${path}/state`, signal)) : null;
  const isSip = ["SIP", "SIPE"].includes((phone.software_type ?? "").toUpperCase());
  const state = h("section", { className: "on-phone", "aria-live": "polite" });
  const rollBackButton = h(
    "button",
    { onclick: () => rollBack(rollBackButton, path, phone, signal) },
    texts.rollBack,
  );
  rollBackButton.hidden = deployed.current === null;
  const parts = tabs(
    texts.details,
    [
      { name: "history", title: texts.history, show: (panel) => historyPart(panel, path, signal) },
      { name: "desk", title: texts.desk, show: (panel) => deskPart(panel, path, phone, signal) },
      { name: "modules", title: texts.modules, show: (panel) => modulesPart(panel, phone, signal) },
      ...(session.isHelpdesk && seen !== null
        ? [{ name: "lines", title: texts.lines, show: (/** @type {HTMLElement} */ panel) => linesPart(panel, path, isSip, signal) }]
        : []),
      ...(session.isAdmin
        ? [
            { name: "lines", title: texts.lines, show: (/** @type {HTMLElement} */ panel) => linesPart(panel, path, isSip, signal) },
            { name: "drills", title: texts.drills, show: (/** @type {HTMLElement} */ panel) => drillsPart(panel, path, signal) },
            { name: "fetches", title: texts.fetches, show: (/** @type {HTMLElement} */ panel) => fetchesPart(panel, path, signal) },
          ]
        : []),
    ],
    query.get("tab") ?? "history",
    (name) => readdress(withQuery(`/phones/${mac}`, { tab: name === "history" ? "" : name })),
  );
  fill(
    element,
    heading(
      phone.name ? h("span", {}, phone.name, h("span", { className: "quiet" }, ` (${phone.mac})`)) : phone.mac,
      !phone.is_active && h("span", { className: "badge" }, texts.inactive),
      seen && (seen.since || seen.state !== "never_seen") && badge(seen.state, texts.states),
      h("a", { className: "button primary", href: `#/switch?mac=${phone.mac}` }, texts.switchPhone),
      rollBackButton,
      session.mayWriteShared && h("button", { onclick: () => edit(path, phone) }, texts.edit),
      session.isAdmin && h("button", { onclick: () => replacePhone(phone) }, texts.replace),
      session.mayWriteShared &&
        h("button", { className: "danger", onclick: () => remove(path, phone) }, texts.remove),
      auditLink(phone.mac),
      help("how-to/put-back"),
    ),
    h(
      "div",
      { className: "two" },
      state,
      h("div", {}, facts([
        [texts.model, phone.model],
        [texts.location, phone.location],
        [texts.address, addressOf(phone)],
        [texts.softwareType, phone.software_type],
        [texts.softwareVersion, phone.software_version],
        ...seenFacts(seen),
      ], "twofold"), seen?.since === null && h("p", { className: "quiet" }, texts.notLookedAt), phone.description && h("p", { className: "quiet" }, phone.description)),
    ),
    phone.address_confirmed === false && unconfirmed(path, phone),
    parts,
  );
  update(state, ...(await onPhone(deployed, seen, isSip)));
  void followed().catch(() => {});

  /** A change that is under way is shown as it happens. */
  async function followed() {
    let { last } = deployed;
    while (last !== null && !isOver(last)) {
      await pause(POLL_MS, signal);
      const now = await deployedOn(path, signal);
      last = now.last;
      rollBackButton.hidden = now.current === null;
      update(state, ...(await onPhone(now, seen, isSip)));
    }
  }
}

/** What it means that the address of a phone is not confirmed; level 0 confirms it.
 * @param {string} path @param {Phone} phone */
function unconfirmed(path, phone) {
  const withPin = phone.adopted_with_pin === true;
  return h(
    "div",
    { className: "state wait" },
    h("p", {}, icon("wait"), h("strong", {}, texts.addressNotConfirmed)),
    h("p", {}, [withPin && texts.adoptedWithPin, texts.notConfirmedHint, withPin && texts.fewProfiles].filter(Boolean).join(" ")),
    session.isAdmin && h("button", { onclick: () => confirmAddress(path, phone) }, texts.confirmAddress),
  );
}

/** The address goes with it: the one that was read is confirmed.
 * @param {string} path @param {Phone} phone */
async function confirmAddress(path, phone) {
  const question = texts.confirmQuestion(phone.phone_ip ?? "", phoneTitle(phone));
  const isHere = here();
  if (!(await ask(question, texts.confirmAddress, { details: h("p", {}, texts.confirmHint) }))) return;
  try {
    await api.put(path, { phone_ip: phone.phone_ip, address_confirmed: true });
    notice(texts.addressConfirmed(phoneTitle(phone)));
    if (isHere()) showAgain();
  } catch (error) {
    notice(messageOf(error), "failed");
  }
}

/** What was seen of the phone when it was last looked at.
 * @param {any} seen @returns {[string, import("../dom.js").Child][]} */
function seenFacts(seen) {
  if (!seen?.since) return [];
  const reports = [seen.reported_model, seen.reported_load].filter(Boolean).join(", ");
  return [
    ...(seen.file === "unknown" ? [] : [/** @type {[string, string]} */ ([texts.fileOnServerNow, texts.fileStates[seen.file]])]),
    [texts.seenAt, ago(seen.seen_at) || texts.neverSeen],
    ...(reports ? [/** @type {[string, string]} */ ([texts.reports, reports])] : []),
    ...(seen.expected_load ? [/** @type {[string, string]} */ ([texts.expectedLoad, seen.expected_load])] : []),
    ...(seen.serial ? [/** @type {[string, string]} */ ([texts.serial, seen.serial])] : []),
  ];
}

/** @param {string} path @param {Phone} phone */
function edit(path, phone) {
  const fields = phoneFields(session.isAdmin).filter(({ name }) => name !== "mac");
  /** @param {() => void} close */
  const content = (close) => {
    const { form } = recordForm(fields, phone, (values) => api.put(path, values), {
      changesOnly: true,
      said: ({ data }) => texts.saved(phoneTitle(data)),
      saved: () => {
        close();
        showAgain();
      },
    });
    return form;
  };
  void show(texts.edit, content);
}

/** @param {string} path @param {Phone} phone */
async function remove(path, phone) {
  const title = phoneTitle(phone);
  if (await removed(path, title, { question: texts.deletePhone(title) })) go("/phones");
}
