/** One phone: what is on it and whether the last change failed, then its parts as tabs. */

import { api, pause, session, withQuery } from "../api.js";
import { ago, fill, h, icon, update, when } from "../dom.js";
import { recordForm } from "../elements/forms.js";
import {
  ask,
  auditLink,
  badge,
  facts,
  heading,
  help,
  meaningOf,
  messageOf,
  notice,
  show,
} from "../elements/parts.js";
import { removed, tabs } from "../elements/records.js";
import { phoneFields } from "../fields.js";
import { go, here, readdress, showAgain } from "../navigation.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";
import { replacePhone } from "./discovered.js";
import { deskPart, drillsPart, fetchesPart, historyPart, linesPart, modulesPart, rollBack } from "./phone-parts.js";
import { addressOf, deployedOn, hasActiveOwner, isOver, nextSteps, noteFact, numbersIn, numbersOf, optional, phoneTitle, problemOf, profileName, username } from "./shared.js";

/** @typedef {import("../../types").Deployment} Deployment */
/** @typedef {import("../../types").Phone} Phone */

// What is on a phone, and whether its last change failed: first, and only what is known.

/**
 * What there is to say of the last change: null when it reached the phone and the phone came back.
 *
 * @param {{current: Deployment | null, last: Deployment | null}} deployed
 * @returns {{meaning: string, said: string, more: string} | null}
 */
export function lastChange({ current, last }) {
  if (last === null) return null;
  const still = current === null || current.uuid === last.uuid ? "" : texts.stillOnPhone;
  if (last.outcome === "running") return { meaning: "wait", said: texts.lastChangeRunning, more: "" };
  if (last.outcome === "failed") {
    return { meaning: "bad", said: texts.lastChangeFailed, more: still };
  }
  if (last.outcome !== "deployed" && (last.outcome === "unknown" || last.place === null)) {
    const isBelow = current?.uuid === last.uuid;
    const more = current === null ? "" : isBelow ? texts.oldOrNew : texts.belowOrThis;
    return { meaning: "unknown", said: texts.lastChangeUnknown, more };
  }
  if (last.confirmation === "confirmed" || last.confirmation === "pending") return null;
  const restart = last.steps.find(({ name }) => name === "restart");
  if (restart?.ok === null) return { meaning: "unknown", said: texts.restartUnknown, more: "" };
  if (restart?.ok === false) return { meaning: "bad", said: texts.noRestart, more: "" };
  const isMissing = last.confirmation === "not_confirmed";
  return isMissing ? { meaning: "bad", said: texts.notSeenAgain, more: "" } : null;
}

/** @param {{current: Deployment | null, last: Deployment | null}} deployed
 * @param {any} seen the state of the phone; null for those who may not know it
 * @param {boolean} [isSip] whether number and password are in the configuration */
export async function onPhone(deployed, seen, isSip = false) {
  const { current, last } = deployed;
  const change = lastChange(deployed);
  const waiting = seen?.waiting ?? null;
  return [
    h("h2", {}, texts.onPhone),
    change !== null &&
      last !== null &&
      h(
        "div",
        { className: `state ${change.meaning}` },
        h("p", {}, icon(change.meaning), h("strong", {}, change.said), " ", ago(last.created_at)),
        h("p", {}, [problemOf(last), change.more].filter(Boolean).join(" ")),
        h("a", { href: `#/deployments/${last.uuid}` }, texts.seeChange),
      ),
    waiting !== null && last?.outcome !== "running" && (await awaited(seen.mac, waiting, last?.message)),
    current !== null
      ? await placed(current)
      : waiting === null && h("p", {}, session.isAdmin ? texts.nothingDeployed : texts.notVisible),
    seen !== null && trouble(seen),
    isSip && session.isAdmin && current !== null && !(await hasActiveOwner(current.profile_uuid)) && leaver(),
  ];
}

/** What the service does at the phone next without an act, or why it could not.
 * @param {string} mac @param {import("../../types").Waiting} waiting @param {string | null} [said] of the last change */
async function awaited(mac, { profile_uuid: uuid, problem, next_at: at }, said) {
  const name = uuid && (await profileName(uuid));
  const meaning = problem ? "bad" : "wait";
  return h(
    "div",
    { className: `state ${meaning}` },
    h("p", {}, icon(meaning), h("strong", {}, name ? texts.profileFollows(name) : texts.userLeaves)),
    problem && problem !== said && h("p", {}, inWords(problem)),
    h("p", {}, problem ? texts.triedAgain : texts.followsSoon, at && [" ", when(at)]),
    h("a", { href: `#/phones/${mac}?tab=desk` }, texts.desk),
  );
}

/** What is wrong with the phone as it is, and what to do. @param {any} seen */
function trouble({ state, states, message, next_step: next, seen_at: at }) {
  const meaning = meaningOf(state);
  if (meaning === "good" || (state === "never_seen" && states.length === 1)) return null;
  return h(
    "div",
    { className: `state ${meaning}` },
    h("p", {}, icon(meaning), h("strong", {}, states.map((/** @type {string} */ one) => texts.states[one] ?? one).join(", ")), " ", ago(at)),
    h("p", {}, inWords(message)),
    next && h("p", {}, inWords(next)),
  );
}

/** Number and password of a user who left are on the phone: what to do. */
function leaver() {
  return h(
    "div",
    { className: "state bad" },
    h("p", {}, icon("bad"), h("strong", {}, texts.ownerLeft)),
    h("p", {}, texts.leaverNext),
  );
}

/** @param {Deployment} current */
async function placed(current) {
  const { profile_uuid, profile_name, revision, confirmation } = current;
  const name = texts.profileRevision(profile_name, revision);
  return facts([
    [texts.profile, h("a", { href: `#/profiles/${profile_uuid}` }, name)],
    [texts.since, ago(current.ended_at ?? current.created_at)],
    [texts.by, await username(current.user_uuid)],
    [texts.confirmation, texts.confirmations[confirmation]],
  ]);
}

/** Who uses the phone, with which numbers; nothing for who may not see it.
 * @param {import("../../types").Numbered | undefined} whose @returns {[string, any][]} */
function numberFacts(whose) {
  if (!whose) return [];
  const people = whose.people.map(({ uuid, name }) => h("a", { href: `#/people/${uuid}` }, name));
  return [[texts.numberOf, numbersIn({ whose })], [texts.person, people.length > 0 ? h("span", {}, ...people) : ""]];
}

// One phone: what is on it and whether the last change failed, then its parts as tabs.

const POLL_MS = 1500;
const SLOW_MS = 10_000;

/** @type {import("../router.js").View} */
export async function phoneView({ element, parameters: [mac], query, signal }) {
  const path = `phones/${encodeURIComponent(mac)}`;
  const [phone, deployed, named] = await Promise.all([
    api.get(path, signal).then(({ data }) => data),
    deployedOn(path, signal),
    numbersOf("phones", [mac], signal),
  ]);
  const whose = named.get(phone.mac);
  const seen = session.seesPeople ? await optional(api.get(`${path}/state`, signal)) : null;
  const isSip = ["SIP", "SIPE"].includes((phone.software_type ?? "").toUpperCase());
  const state = h("section", { className: "on-phone", "aria-live": "polite" });
  const stateBadge = seen && (seen.since || seen.state !== "never_seen") && badge(seen.state, texts.states);
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
      stateBadge,
      h("a", { className: "button primary", href: `#/switch?mac=${phone.mac}` }, texts.switchPhone),
      rollBackButton,
      seen !== null && h("button", { onclick: () => restart(path, phone) }, texts.restartPhone),
      session.mayWriteShared && h("button", { onclick: () => edit(path, phone) }, texts.edit),
      session.isAdmin && h("button", { onclick: () => replacePhone(phone) }, texts.replace),
      seen !== null && h("a", { className: "button", href: `#/phones/${phone.mac}/label` }, texts.label),
      session.mayWriteShared &&
        h("button", { className: "danger", onclick: () => remove(path, phone) }, texts.remove),
      auditLink(phone.mac),
      help("how-to/put-back"),
    ),
    query.has("new") &&
      nextSteps([`/switch?mac=${phone.mac}`, texts.switchPhone], [`/phones/${phone.mac}?tab=desk`, texts.desk], [`/phones/${phone.mac}/label`, texts.label]),
    h(
      "div",
      { className: "two" },
      state,
      h("div", {}, facts([
        ...numberFacts(whose),
        [texts.model, phone.model],
        [texts.location, phone.location],
        [texts.address, seen?.web_page ? h("a", { href: seen.web_page, target: "_blank", rel: "noopener noreferrer", title: texts.ownWebPage }, addressOf(phone)) : addressOf(phone)],
        [texts.softwareType, phone.software_type],
        [texts.softwareVersion, phone.software_version],
        ...seenFacts(seen),
        ...(seen === null ? [] : await noteFact(path, signal)),
      ], "twofold"), seen?.since === null && h("p", { className: "quiet" }, texts.notLookedAt), phone.description && h("p", { className: "quiet" }, phone.description)),
    ),
    phone.address_confirmed === false && unconfirmed(path, phone),
    parts,
  );
  await drawState(deployed);
  void followed().catch(() => {});

  /** A phone whose last change did not arrive is not fine. @param {typeof deployed} now */
  async function drawState(now) {
    if (stateBadge) stateBadge.hidden = seen.state === "fine" && lastChange(now) !== null;
    update(state, ...(await onPhone(now, seen, isSip)));
  }

  /** A change that is under way is shown as it happens. */
  async function followed() {
    let { last } = deployed;
    while (seen?.waiting || (last !== null && !isOver(last))) {
      await pause(seen?.waiting?.problem ? SLOW_MS : POLL_MS, signal);
      const now = await deployedOn(path, signal);
      if (seen?.waiting) ({ waiting: seen.waiting } = (await api.get(`${path}/state`, signal)).data);
      last = now.last;
      rollBackButton.hidden = now.current === null;
      await drawState(now);
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

/** @param {string} path @param {Phone} phone */
async function restart(path, phone) {
  const title = phoneTitle(phone);
  const details = h("p", {}, texts.restartHint);
  if (!(await ask(texts.restartQuestion(title), texts.restartPhone, { details }))) return;
  try {
    await api.post(`${path}/restart`);
    notice(texts.restarted(title));
  } catch (error) {
    notice(messageOf(error), "failed");
  }
}

/** When the phone was seen, and by what.
 * @param {any} seen @returns {import("../dom.js").Child} */
function lastSeen({ seen_at, answers, is_registered }) {
  if (!seen_at) return texts.neverSeen;
  const now = [answers && texts.answersWeb, is_registered && texts.isRegistered].filter(Boolean).join(", ");
  return h("span", {}, ago(seen_at), h("span", { className: "quiet" }, ` (${now || texts.seenBy})`));
}

/** What was seen of the phone when it was last looked at.
 * @param {any} seen @returns {[string, import("../dom.js").Child][]} */
function seenFacts(seen) {
  if (!seen?.since) return [];
  const reports = [seen.reported_model, seen.reported_load].filter(Boolean).join(", ");
  return [
    ...(seen.file === "unknown" ? [] : [/** @type {[string, string]} */ ([texts.fileOnServerNow, texts.fileStates[seen.file]])]),
    [texts.seenAt, lastSeen(seen)],
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
