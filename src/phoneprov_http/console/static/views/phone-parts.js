/** The tabs of a phone, and the way back to an earlier configuration. */

import { ApiError, NEWEST, api, session, withQuery } from "../api.js";
import { ago, duration, fill, h, when } from "../dom.js";
import { ask, badge, facts, heading, messageOf, needsLevel0, notice, sentences, simpleTable } from "../elements/parts.js";
import { growing } from "../elements/search-bar.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { deskForm, emergencyOf } from "./desks.js";
import { begun, confirmationOf, lockFact, phoneTitle, problemOf, signedHint } from "./shared.js";

/** @typedef {import("../../types").Phone} Phone */
/** @typedef {import("../../types").Deployment} Deployment */

// The parts of a phone's page: each asks for what it shows only.

const PAGE = 20;

/** @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal */
export async function historyPart(panel, path, signal) {
  const rows = growing(historyTable, signal, {
    page: async (before = NEWEST) => {
      /** @type {Deployment[]} */
      const found = (await api.get(withQuery(`${path}/deployments`, { before, limit: PAGE }), signal)).data;
      return { rows: found, next: found.length < PAGE ? undefined : found.at(-1)?.uuid };
    },
  });
  fill(panel, rows.place, rows.more);
  await rows.load();
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
    session.seesPeople &&
      facts([lockFact((await api.get(`${path}/desk/lock`, signal)).data, () => api.put(`${path}/desk`, {}), redraw)]),
    session.isAdmin && (await deskForm(path, phoneTitle(phone), desk, redraw)),
  );
}

/** A label for a phone: name, number and MAC, the last as a QR code too. @type {import("../router.js").View} */
export async function labelView({ element, parameters: [mac], signal }) {
  if (!session.seesPeople) return fill(element, ...needsLevel0());
  const { data } = await api.get(`phones/${encodeURIComponent(mac)}/label`, signal);
  const code = document.importNode(new DOMParser().parseFromString(data.qr_svg, "image/svg+xml").documentElement, true);
  code.setAttribute("role", "img");
  code.setAttribute("aria-label", texts.qrCode(data.mac));
  fill(
    element,
    heading(texts.label, h("button", { className: "primary", onclick: () => print() }, texts.print), h("a", { className: "button", href: `#/phones/${data.mac}` }, texts.phone)),
    h(
      "div",
      { className: "label" },
      code,
      h("div", {}, data.number && h("strong", {}, data.number), h("div", {}, data.name ?? ""), h("div", {}, data.location ?? ""), h("code", {}, data.mac)),
    ),
  );
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

// Rolling a phone back: what comes back, then the steps as they happen.

const HISTORY_PAGE = 100;

/**
 * What is on the phone, and what was there before with another configuration.
 *
 * @param {Deployment[]} history newest first
 * @returns {{now: Deployment | null, before: Deployment | null}}
 */
export function comesBack(history) {
  const [now = null, ...earlier] = history.filter(({ place }) => place !== null);
  const before = earlier.find((one) => now !== null && isOther(one, now)) ?? null;
  return { now, before };
}

/** @param {Deployment} one @param {Deployment} other */
function isOther(one, other) {
  if (one.sha256 && other.sha256) return one.sha256 !== other.sha256;
  return one.profile_uuid !== other.profile_uuid || one.revision !== other.revision;
}

/** @param {HTMLButtonElement} button @param {string} path
 * @param {import("../../types").Phone} phone @param {AbortSignal} signal */
export async function rollBack(button, path, phone, signal) {
  button.disabled = true;
  try {
    await asked(path, phone, signal);
  } catch (error) {
    if (!signal.aborted) notice(messageOf(error), "failed");
  } finally {
    button.disabled = false;
  }
}

/** @param {string} path @param {import("../../types").Phone} phone @param {AbortSignal} signal */
async function asked(path, phone, signal) {
  const newest = withQuery(`${path}/deployments`, { before: NEWEST, limit: HISTORY_PAGE });
  const { data: history } = await api.get(newest, signal);
  const { now, before } = comesBack(history);
  if (before === null || now === null) {
    notice(texts.noRollBack, "failed");
    return;
  }
  const details = facts([
    [texts.now, texts.profileRevision(now.profile_name, now.revision)],
    [texts.then, texts.profileRevision(before.profile_name, before.revision)],
  ]);
  const question = texts.rollBackQuestion(phoneTitle(phone));
  if (!(await ask(question, texts.rollBack, { details }))) return;
  try {
    await putBack(path, { deployment_uuid: before.uuid }, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "rights_changed" || !session.isAdmin) throw error;
    const why = h("p", {}, error.message);
    if (!(await ask(question, texts.rollBackAnyway, { isDangerous: true, details: why }))) return;
    await putBack(path, { deployment_uuid: before.uuid, force: true }, signal);
  }
}

/** The page of the deployment shows the steps.
 * @param {string} path @param {{deployment_uuid: string, force?: boolean}} body @param {AbortSignal} signal */
async function putBack(path, body, signal) {
  const begin = await begun(path, () => api.post(`${path}/rollback`, body), signal);
  if (begin !== null) go(`/deployments/${begin.deployment.uuid}`);
}
