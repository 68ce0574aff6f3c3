/** What several views say of people, phones, changes and batches. */

import { ApiError, NEWEST, api, pause, session, withQuery } from "../api.js";
import { h } from "../dom.js";
import { recordForm } from "../elements/forms.js";
import { badge, messageOf, notice, show } from "../elements/parts.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";

/** @typedef {import("../../types").Batch} Batch */
/** @typedef {import("../../types").Deployment} Deployment */

// Names of what records refer to by UUID. Each is asked for once.

/** The account of the service itself and of the command line. */
const SYSTEM = "00000000-0000-0000-0000-000000000000";

/** @type {Map<string, Promise<any>>} */
const found = new Map();

/** What the service does not offer, or the caller may not see, is left out.
 * @param {Promise<{data: any}>} reply */
export async function optional(reply) {
  try {
    return (await reply).data;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

/** A record that may be deleted. @param {string} path @returns {Promise<any>} */
function record(path) {
  if (!found.has(path)) found.set(path, optional(api.get(path)));
  return /** @type {Promise<any>} */ (found.get(path));
}

/** The name of an account. @param {string | null} uuid */
export async function username(uuid) {
  if (uuid === session.me?.uuid) return session.me.username;
  if (uuid === SYSTEM || uuid === null) return texts.system;
  if (!session.seesPeople) return texts.anotherAccount;
  return (await record(`users/${uuid}`))?.username ?? texts.deletedAccount;
}

/** No account has it: nothing is found. */
const NOT_A_USER = "00000000-0000-4000-8000-000000000000";

/** The account with a username, or the only one that a search for it finds.
 * @param {string} name @param {AbortSignal} [signal] @returns {Promise<string>} */
export async function userNamed(name, signal) {
  const { data } = await api.get(withQuery("users", { q: name, limit: 1000 }), signal);
  const same = data.find((/** @type {any} */ one) => one.username.toLowerCase() === name.toLowerCase());
  return (same ?? (data.length === 1 ? data[0] : null))?.uuid ?? NOT_A_USER;
}

/** The usernames that a text finds. @param {string} q @returns {Promise<string[]>} */
export const usernames = async (q) =>
  (await api.get(withQuery("users", { q, limit: 20 }))).data.map((/** @type {any} */ one) => one.username);

/** @param {{first_name: string, last_name: string}} user */
export const fullName = ({ first_name, last_name }) => `${first_name} ${last_name}`;

/** The name of a profile; null if it is deleted. @param {string} uuid @returns {Promise<string | null>} */
export async function profileName(uuid) {
  return (await record(`phone-profiles/${uuid}`))?.name ?? null;
}

/** A number; null if it is deleted. @param {string} uuid @returns {Promise<string | null>} */
export const extensionNumber = async (uuid) => (await record(`extensions/${uuid}`))?.extension ?? null;

/** Whether the owner of a profile is active; false if the profile or the owner is deleted. For level 0.
 * @param {string} uuid of the profile */
export async function hasActiveOwner(uuid) {
  const profile = await record(`phone-profiles/${uuid}`);
  return profile !== null && (await record(`users/${profile.user_uuid}`))?.is_active === true;
}

const MOST_NAMED = 100;

/** @param {string} mac in any spelling */
const digitsOf = (mac) => mac.replace(/[:.-]/g, "").toUpperCase();

/** Those of these phones that match the filters, at least `most` of them if there are so many.
 * @param {string[]} macs @param {Record<string, any>} filters @param {AbortSignal} [signal] @param {number} [most]
 * @returns {Promise<any[]>} */
export async function phonesAmong(macs, filters, signal, most = Infinity) {
  const all = [...new Set(macs)];
  /** @type {any[]} */
  const found = [];
  for (let at = 0; at < all.length && found.length < most; at += MOST_NAMED) {
    const page = all.slice(at, at + MOST_NAMED).map((mac) => mac.replaceAll(":", "")).join(",");
    found.push(...(await api.get(withQuery("phones", { ...filters, macs: page, limit: MOST_NAMED }), signal)).data);
  }
  return found;
}

/** The names and numbers of phones by MAC address; one that is not in the inventory has none.
 * @param {string[]} macs @param {AbortSignal} [signal] @returns {Promise<Map<string, string>>} */
export async function phoneNames(macs, signal) {
  const found = await withNumbers("phones", await phonesAmong(macs, {}, signal), signal);
  return new Map(found.map((one) => [one.mac, phoneName(one)]));
}

/** @typedef {import("../../types").Numbered} Numbered */

/** The people and numbers of records, by key, in one request.
 * @param {"phones" | "users" | "profiles" | "extensions"} of @param {string[]} ids @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, Numbered>>} */
export async function numbersOf(of, ids, signal) {
  if (ids.length === 0) return new Map();
  const { data } = await api.post("numbers", { of, ids }, signal);
  return new Map(data.map((/** @type {Numbered} */ one) => [one.id, one]));
}

/** The rows of a page, each with its people and numbers for who may see them: `whose`.
 * @template T
 * @param {Parameters<typeof numbersOf>[0]} of @param {T[]} rows @param {AbortSignal} [signal]
 * @returns {Promise<(T & {whose?: Numbered})[]>} */
export async function withNumbers(of, rows, signal) {
  if (!session.seesPeople) return /** @type {any} */ (rows);
  const keyOf = (/** @type {any} */ row) => row.mac ?? row.uuid;
  const found = await numbersOf(of, rows.map(keyOf), signal);
  return rows.map((row) => ({ ...row, whose: found.get(keyOf(row)) }));
}

/** @param {{whose?: Numbered}} row */
export const numbersIn = ({ whose }) => whose?.numbers.join(", ") ?? "";
/** @param {{whose?: Numbered}} row */
export const peopleIn = ({ whose }) => whose?.people.map(({ name }) => name).join(", ") ?? "";

/** The column of numbers in a list, and its filter. @type {import("../elements/data-list.js").Column<any>} */
export const NUMBER = { title: texts.numberOf, cell: numbersIn, sort: "number", width: "7rem" };
export const NUMBER_FILTER = { name: "number", label: texts.numberOf };

/** @param {(string | null | undefined)[]} parts */
const joined = (...parts) => parts.filter(Boolean).join(", ");

/** Choices of a picker: phones, people, profiles with their owners, extensions with their users. */
export const PHONES = {
  rows: (/** @type {any[]} */ rows) => withNumbers("phones", rows),
  option: (/** @type {any} */ one) => ({
    value: one.mac,
    text: joined(one.name, numbersIn(one), peopleIn(one), one.mac, one.model, one.location),
  }),
};
export const PEOPLE = {
  rows: (/** @type {any[]} */ rows) => withNumbers("users", rows),
  option: (/** @type {any} */ one) => ({
    value: one.username,
    text: joined(`${one.first_name} ${one.last_name}`, numbersIn(one), one.username),
  }),
};
export const PROFILES = {
  rows: (/** @type {any[]} */ rows) => withNumbers("profiles", rows),
  option: (/** @type {any} */ one) => ({
    value: one.uuid,
    text: joined(one.name, peopleIn(one), numbersIn(one) || one.whose?.people[0]?.username),
  }),
};
export const EXTENSIONS = {
  rows: (/** @type {any[]} */ rows) => withNumbers("extensions", rows),
  option: (/** @type {any} */ one) => ({
    value: one.uuid,
    text: joined(`${one.extension} ${one.name}`, whoseLine(one)),
  }),
};

/** The users of an extension, or the desk whose number it is. @param {{whose?: Numbered}} row */
export const whoseLine = (row) => peopleIn(row) || (row.whose?.phones.map(phoneTitle).join(", ") ?? "");

/** The name of a phone with its numbers. @param {{name?: string | null, whose?: Numbered}} phone */
const phoneName = (phone) => joined(phone.name, numbersIn(phone));

/** A phone as people name it. @param {{mac: string, name?: string | null, whose?: Numbered}} phone */
export const phoneTitle = (phone) => (phoneName(phone) ? `${phoneName(phone)} (${phone.mac})` : phone.mac);

/** The address of a phone; the API names `address_confirmed` only of one that is not confirmed.
 * @param {{phone_ip: string | null, address_confirmed?: boolean}} phone */
export const addressOf = ({ phone_ip: ip, address_confirmed: isConfirmed }) =>
  ip !== null && isConfirmed === false ? texts.notConfirmed(ip) : ip;

// The note on a phone or a person, and what comes after an act.

/** @param {string} path @param {AbortSignal} signal @returns {Promise<[string, import("../dom.js").Child][]>} */
export async function noteFact(path, signal) {
  if (!session.seesPeople) return [];
  const { note } = (await api.get(`${path}/note`, signal)).data;
  if (!session.isAdmin) return note ? [[texts.note, note]] : [];
  const said = h("span", {}, note);
  /** @param {() => void} close */
  const content = (close) =>
    recordForm([{ name: "note", label: texts.note, hint: texts.noteHint }], { note: said.textContent }, (values) => api.put(`${path}/note`, { note: values.note ?? "" }), {
      said: () => texts.saved(texts.note),
      saved: ({ data }) => {
        said.textContent = data.note ?? "";
        edit.textContent = texts.editNote(!data.note);
        close();
      },
    }).form;
  const edit = h("button", { className: "plain link", onclick: () => void show(texts.note, content) }, texts.editNote(!note));
  return [[texts.note, h("span", {}, said, " ", edit)]];
}

/** What is usually done next. @param {...[string, string]} links address and text */
export const nextSteps = (...links) =>
  h(
    "div",
    { className: "actions", role: "group", "aria-label": texts.nextSteps },
    h("strong", {}, texts.nextSteps),
    ...links.map(([href, text]) => h("a", { className: "button", href: `#${href}` }, text)),
  );

/** The lock after wrong PINs, and the button that opens it. @param {any} lock @param {() => Promise<unknown>} open
 * @param {() => void} changed @returns {[string, import("../dom.js").Child]} */
export function lockFact({ failures, wait_seconds: seconds, is_locked: isLocked }, open, changed) {
  const said = isLocked ? texts.lockedForGood : seconds > 0 ? texts.lockedFor(seconds) : texts.notLocked;
  const press = async () => {
    try {
      await open();
      notice(texts.lockOpened);
      changed();
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  };
  const button = failures > 0 && h("button", { type: "button", onclick: press }, texts.openLock);
  return [texts.wrongPins, h("span", {}, texts.wrongPinsSaid(failures, said), " ", button)];
}

// Phones of another call manager, which request a signed configuration and take no other.

/** Whether a name is that of a signed configuration. @param {string} name */
export const isSigned = (name) => /\.cnf\.xml(\.enc)?\.sgn$/i.test(name);

/** What to do about such a phone; empty if none of these requests was one. @param {string[]} names */
export const signedHint = (names) =>
  names.some(isSigned) ? h("p", { className: "hint", role: "note" }, texts.signedHint) : "";

/** Of two steps the second is the one to take once the first is done.
 * @param {HTMLButtonElement} first @param {HTMLButtonElement} second @param {boolean} isReady */
export function turn(first, second, isReady) {
  second.disabled = !isReady;
  [first.className, second.className] = isReady ? ["", "primary"] : ["primary", ""];
}

// Rows chosen in any list: phones for a new batch, records for an edit.

/** @type {{macs: string[], keys: string[]}} */
export const chosen = { macs: [], keys: [] };

/** The button that edits these records. @param {"phones" | "users" | "extensions"} kind @param {string[]} keys */
export function editButton(kind, keys) {
  const onclick = () => {
    chosen.keys = keys;
    go(`/edit/${kind}`);
  };
  return h("button", { onclick }, texts.edit);
}

/** The button that starts a new batch for these phones. @param {string[]} macs
 * @param {"primary" | ""} [className] */
export function batchButton(macs, className = "primary") {
  const phones = [...new Set(macs)];
  const onclick = () => {
    chosen.macs = phones;
    go("/batches/new?selected=1");
  };
  return h("button", { className, onclick }, texts.batchFor(phones.length));
}

// Changes of phones, batches, and what is on a phone.

const POLL_MS = 1000;
const STEP_MS = 300;

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

/** Send a change of a phone. Its record appears before its first step: the record, and what the answer will be,
 * a problem or null. Null for a change without a record.
 * @param {string} path of the phone @param {() => Promise<unknown>} send @param {AbortSignal} signal
 * @returns {Promise<{deployment: Deployment, answer: Promise<unknown>} | null>} */
export async function begun(path, send, signal) {
  const newest = withQuery(`${path}/deployments`, { before: NEWEST, limit: 1 });
  const read = async () => (await api.get(newest, signal)).data[0];
  const last = await read();
  let isAnswered = false;
  const answer = send()
    .then(() => null, (error) => error)
    .finally(() => (isAnswered = true));
  for (;;) {
    await Promise.race([pause(STEP_MS, signal), answer]);
    const isLate = isAnswered;
    const deployment = await read();
    if (deployment && deployment.uuid !== last?.uuid) return { deployment, answer };
    if (!isLate) continue;
    const problem = await answer;
    if (problem !== null) throw problem;
    return null;
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

/** The profile of a batch; a restart has none. @param {Batch} batch */
export const profileOf = ({ action, profile_name: name }) => (action === "restart" ? "" : (name ?? texts.profileOnPhone));

/** The state of a batch: one with failures is no success. @param {Batch} batch */
export function stateOf({ state, phones }) {
  const isPartly = state === "done" && phones.failed + phones.unknown > 0;
  return isPartly ? badge("failed", { failed: texts.doneWithFailures }) : badge(state, texts.batchStates);
}

/** The API lists the oldest first: the newest stand on its last page.
 * @param {number} offset @param {number} limit @param {AbortSignal} signal */
export async function newestBatches(offset, limit, signal) {
  const total = await api.count("batches", {}, signal);
  const end = Math.max(0, total - offset);
  const start = Math.max(0, end - limit);
  if (end === start) return { rows: [], total };
  const { data } = await api.get(withQuery("batches", { offset: start, limit: end - start }), signal);
  return { rows: /** @type {Batch[]} */ (data.reverse()), total };
}

/** What is on a phone, and its newest deployment, as far as the caller may see them; those of the phone
 * that it replaced are none of it.
 * @param {string} path @param {AbortSignal} signal */
export async function deployedOn(path, signal) {
  const newest = { before: NEWEST, limit: 1 };
  const [current, last] = await Promise.all([
    api.get(withQuery(`${path}/deployments`, { ...newest, current: true }), signal),
    api.get(withQuery(`${path}/deployments`, newest), signal),
  ]);
  const mac = digitsOf(decodeURIComponent(path.slice(path.indexOf("/") + 1)));
  const [newestOne = null] = last.data;
  return { current: current.data[0] ?? null, last: newestOne && digitsOf(newestOne.mac) === mac ? newestOne : null };
}
