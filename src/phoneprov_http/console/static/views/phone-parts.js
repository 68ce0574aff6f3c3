/** The parts of a phone's page: each asks for what it shows only. */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { badge, facts } from "../elements/facts.js";
import { notice } from "../elements/notice.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { ago, duration, when } from "../format.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { signedHint } from "./signed.js";
import { deskForm, emergencyOf } from "./desk-form.js";
import { phoneTitle } from "./accounts.js";
import { confirmationOf, problemOf } from "./deployment.js";

const PAGE = 20;

/** @typedef {import("../../types").Phone} Phone */

/** @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal */
export async function historyPart(panel, path, signal) {
  /** @type {import("../../types").Deployment[]} */
  const rows = [];
  const place = h("div");
  const more = h("button", { hidden: true, onclick: () => load() }, texts.older);
  async function load() {
    const before = rows.at(-1)?.uuid ?? NEWEST;
    const { data } = await api.get(withQuery(`${path}/deployments`, { before, limit: PAGE }), signal);
    rows.push(...data);
    more.hidden = data.length < PAGE;
    fill(place, historyTable(rows));
  }
  await load();
  fill(panel, place, more);
}

/** @param {import("../../types").Deployment[]} rows */
function historyTable(rows) {
  return simpleTable(
    texts.history,
    [texts.at, [texts.action, "roomy"], texts.profileAndRevision, texts.outcome, texts.confirmation, sentences(texts.message)],
    rows.map((one) => [
      h("a", { href: `#/deployments/${one.uuid}` }, when(one.created_at)),
      texts.actions[one.action] ?? one.action,
      `${one.profile_name}, ${one.revision}`,
      badge(one.outcome, texts.outcomes),
      confirmationOf(one),
      problemOf(one),
    ]),
    session.isAdmin ? texts.noHistory : texts.noVisibleHistory,
  );
}

/** @param {HTMLElement} panel @param {string} path @param {Phone} phone @param {AbortSignal} signal */
export async function deskPart(panel, path, phone, signal) {
  const desk = await deskOf(path, phone.mac, signal);
  if (desk === null) {
    fill(panel, h("p", {}, texts.notVisible));
    return;
  }
  const redraw = () => void deskPart(panel, path, phone, signal);
  const emergency = session.isAdmin ? await emergencyOf(path, signal) : null;
  fill(
    panel,
    emergency &&
      facts([
        [texts.emergencyNumber, emergency.emergency_number ?? texts.noEmergencyNumber],
        [texts.emergencyPlace, emergency.emergency_place],
      ]),
    desk.user_uuid
      ? h(
          "div",
          {},
          facts([
            [texts.deskUser, desk.username],
            [texts.since, ago(desk.since)],
            ...(desk.until ? [/** @type {[string, any]} */ ([texts.until, when(desk.until)])] : []),
          ]),
          h("button", { onclick: () => logOut(path, phone, desk, redraw) }, texts.logOutDesk),
        )
      : h("p", {}, texts.nobodyLoggedIn),
    session.isAdmin && (await deskForm(path, phoneTitle(phone), desk, redraw)),
    session.isHelpdesk && h("button", { onclick: () => openLock(path) }, texts.openLock),
  );
}

/** Open the lock of a phone after wrong PINs. @param {string} path */
async function openLock(path) {
  try {
    await api.put(`${path}/desk`, {});
    notice(texts.lockOpened);
  } catch (error) {
    notice(messageOf(error), "failed");
  }
}

/** Others than level 0 see a desk while they are logged in there.
 * @param {string} path @param {string} mac @param {AbortSignal} signal
 * @returns {Promise<import("../../types").Desk | null>} */
async function deskOf(path, mac, signal) {
  if (session.isAdmin) return (await api.get(`${path}/desk`, signal)).data;
  const { data } = await api.get("desks", signal);
  return data.find((/** @type {any} */ one) => one.mac === mac) ?? null;
}

/** @param {string} path @param {Phone} phone @param {import("../../types").Desk} desk
 * @param {() => void} changed */
async function logOut(path, phone, desk, changed) {
  const question = texts.logOutQuestion(desk.username ?? "", phoneTitle(phone));
  const details = h("p", {}, texts.logOutHint);
  if (!(await ask(question, texts.logOutDesk, { details }))) return;
  try {
    await api.post(`${path}/desk/logout`);
    notice(texts.loggedOut(desk.username ?? ""));
  } catch (error) {
    notice(messageOf(error), "failed");
  }
  changed();
}

/** @param {HTMLElement} panel @param {Phone} phone @param {AbortSignal} signal */
export async function modulesPart(panel, phone, signal) {
  const { data } = await api.get(withQuery("vendor-kem", { connected_phone: phone.mac }), signal);
  fill(
    panel,
    simpleTable(
      texts.modules,
      [texts.model, texts.mac, texts.address],
      data.map((/** @type {any} */ kem) => [kem.model ?? "-", kem.mac, kem.ip]),
      texts.noModules,
    ),
    session.mayWriteShared &&
      h("a", { className: "button", href: `#/modules?new=${phone.mac}` }, texts.newModule),
  );
}

/** @param {HTMLElement} panel @param {string} path @param {boolean} isSip @param {AbortSignal} signal */
export async function linesPart(panel, path, isSip, signal) {
  if (isSip) {
    fill(panel, h("p", {}, texts.sipLines));
    return;
  }
  const { data } = await api.get(`${path}/lines`, signal);
  fill(
    panel,
    simpleTable(
      texts.lines,
      [texts.lineNumber, texts.name, texts.lineContext, texts.mailbox],
      data.map((/** @type {any} */ one) => [one.name, one.label, one.context, one.mailbox ?? ""]),
      texts.noLines,
    ),
  );
}

/** @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal */
export async function drillsPart(panel, path, signal) {
  const { data } = await api.get(`${path}/drills?limit=${PAGE}`, signal);
  const pair = (/** @type {(string | null)[]} */ ...of) => of.filter(Boolean).join(", ") || "-";
  fill(
    panel,
    simpleTable(
      texts.drills,
      [texts.at, texts.outcome, texts.lineNumber, texts.recorded, texts.presented, texts.message],
      data.map((/** @type {any} */ one) => [
        when(one.created_at),
        badge(one.result, texts.drillResults),
        one.line ?? "-",
        pair(one.recorded_number, one.recorded_place),
        pair(one.presented_number, one.presented_place),
        one.message ?? "",
      ]),
      texts.noDrills,
    ),
  );
}

/** @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal */
export async function fetchesPart(panel, path, signal) {
  const { data } = await api.get(`${path}/fetches?limit=${PAGE}`, signal);
  const missing = data.filter((/** @type {any} */ one) => one.result === "not_found");
  fill(
    panel,
    signedHint(missing.map((/** @type {any} */ one) => one.name)),
    simpleTable(
      texts.fetches,
      [texts.at, texts.name, texts.outcome, texts.address, texts.duration_],
      data.map((/** @type {any} */ one) => [
        when(one.created_at),
        `${one.transport} ${one.name}`,
        badge(one.result, texts.fetchResults),
        one.client_ip,
        duration(one.duration_ms),
      ]),
      texts.noFetches,
    ),
  );
}
