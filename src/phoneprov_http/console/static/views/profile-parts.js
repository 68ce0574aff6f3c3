/** The tabs of a profile, and what a phone would get. */

import { ApiError, NEWEST, api, session, withQuery } from "../api.js";
import { fill, h, when } from "../dom.js";
import { linesOf, sideBySide } from "../elements/code.js";
import { choices, picker } from "../elements/forms.js";
import { badge, errorBox, facts, sentences, simpleTable } from "../elements/parts.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";
import { PHONES, phoneNames, phoneTitle, username } from "./shared.js";

/** @typedef {import("../../types").Profile} Profile */

// What a switch would do, as the server computed it.

/** @param {import("../../types").Preview} data */
export function previewed(data) {
  return [
    fits(data),
    facts([...versions(data), [texts.serverReach, reach(data.server)], [texts.phoneReach, reach(data.phone)], ...needsReset(data.needs_reset)]),
    ...onServer(data),
    ...changes(data),
    h("h3", {}, texts.findings),
    simpleTable(
      texts.findings,
      [texts.line, texts.severity, sentences(texts.message)],
      data.findings.map((one) => [one.line, badge(one.severity, texts.severities), one.message]),
      texts.noFindings,
    ),
  ];
}

/** The same beside an editor, which shows the findings at their lines.
 * @param {import("../../types").Preview} data */
const previewedBeside = (data) => [
  fits(data),
  ...changes(data),
  facts([...versions(data), ...needsReset(data.needs_reset)]),
];

/** @param {import("../../types").Preview} data */
const fits = ({ compatible, objection }) =>
  h("p", { className: compatible ? "good" : "error" }, objection === null ? texts.compatible : inWords(objection));

/** @param {import("../../types").Preview} data @returns {[string, string][]} */
const versions = ({ on_phone: now, profile, revision }) => [
  [texts.now, now ? texts.profileRevision(now.profile_name, now.revision) : texts.notKnownHere],
  [texts.then, texts.profileRevision(profile, revision)],
];

/** @param {import("../../types").Preview} data */
const changes = ({ diff, diff_note: note }) => [
  h("h3", {}, texts.changes),
  diff ? sideBySide(diff, texts.before, texts.after) : h("p", {}, note ?? texts.unchanged),
];

/** A file that another program changed.
 * @param {import("../../types").Preview} data */
function onServer({ file_note: note, file_diff: diff }) {
  if (note === null) return [];
  return [
    h("h3", {}, texts.fileOnServer),
    h("p", { className: "state wait" }, note),
    diff && sideBySide(diff, texts.asDeployed, texts.onServerNow),
  ];
}

/** @param {string[]} elements @returns {[string, string][]} */
function needsReset(elements) {
  return elements.length > 0 ? [[texts.needsReset, elements.join(", ")]] : [];
}

/** @param {{reachable: boolean | null, message: string}} found */
function reach({ reachable, message }) {
  const word =
    reachable === null ? texts.notKnown : reachable ? texts.reachable : texts.notReachable;
  return `${word}: ${inWords(message)}`;
}

// Parts of a profile's page: revisions, preview on a phone, the phones it is on, conflicts.

/** @typedef {{number: number, size: number, created_at: string, created_by: string}} Saved */

/** Choose two revisions and see the difference, which the server computes; `restored` restores an
 * earlier one.
 * @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal
 * @param {{from?: number, to?: number, restored?: (number: number) => Promise<void>}} [options] */
export async function revisionsPart(panel, path, signal, { from: first, to: second, restored } = {}) {
  /** @type {Saved[]} */
  const revisions = (await api.get(`${path}/revisions`, signal)).data;
  if (revisions.length < 2) {
    fill(panel, h("p", {}, texts.oneRevision));
    return;
  }
  const newest = revisions[revisions.length - 1].number;
  const result = h("div", { "aria-live": "polite" });
  /** @param {string} label @param {number} chosen */
  const choice = (label, chosen) =>
    h(
      "select",
      { "aria-label": label, onchange: () => void compare() },
      ...revisions.map((one) =>
        h(
          "option",
          { value: String(one.number), selected: one.number === chosen },
          `${one.number}, `,
          when(one.created_at),
        ),
      ),
    );
  const from = choice(texts.from, first || newest - 1);
  const to = choice(texts.to, second || newest);
  const compare = async () => {
    try {
      const query = { from: from.value, to: to.value };
      const { data } = await api.get(withQuery(`${path}/revisions/diff`, query), signal);
      fill(
        result,
        data.diff
          ? sideBySide(data.diff, texts.revisionNumber(data.from), texts.revisionNumber(data.to))
          : h("p", {}, texts.noDifference),
      );
    } catch (error) {
      fill(result, errorBox(error));
    }
  };
  const table = restored && (await savesTable(revisions, restored));
  fill(panel, table, h("p", { className: "actions" }, from, to, h("button", { onclick: compare }, texts.compare)), result);
  await compare();
}

/** Who saved each revision, and when; an earlier one can be restored.
 * @param {Saved[]} revisions @param {(number: number) => Promise<void>} restored */
async function savesTable(revisions, restored) {
  const rows = revisions.toReversed().map(async ({ number, created_at: at, created_by: by }, place) => [
    number,
    when(at),
    await username(by),
    place === 0 ? texts.now : h("button", { "aria-label": texts.restoreNumber(number), onclick: () => void restored(number) }, texts.restore),
  ]);
  return simpleTable(texts.revisions, [texts.revision, texts.savedAt, texts.savedBy, texts.restore], await Promise.all(rows));
}

/** Callers without level 0 have 30 previews of a phone in ten minutes. */
const PACE_MS = 20_000;

/**
 * What a profile would do on a phone: of what is typed, while it is typed. `soon` keeps to the limit
 * of the server.
 *
 * @param {Profile} profile
 * @param {() => Record<string, any>} typed what is not saved yet, empty without it
 * @param {AbortSignal} signal
 */
export function previewPart(profile, typed, signal) {
  const result = h("div", { className: "preview", "aria-live": "polite" });
  const phone = picker({
    label: texts.previewPhone,
    path: choices("phones"),
    ...PHONES,
    changed: () => void show(),
  });
  const said = h("p", { className: "hint", role: "status" });
  phone.element.append(said);
  /** @type {AbortController | null} */
  let running = null;
  /** @type {number | undefined} */
  let timer;
  let next = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));

  function soon() {
    clearTimeout(timer);
    const wait = next - Date.now();
    if (wait > 0 && phone.value()) said.textContent = texts.previewFollows(Math.ceil(wait / 1000));
    if (wait > 0) timer = setTimeout(() => void show(), wait);
    else void show();
  }

  async function show() {
    clearTimeout(timer);
    said.textContent = "";
    next = Date.now() + (session.isAdmin ? 0 : PACE_MS);
    running?.abort();
    if (!phone.value()) {
      fill(result);
      return;
    }
    const { signal: own } = (running = new AbortController());
    const unsaved = typed();
    const isTyped = Object.keys(unsaved).length > 0;
    if (result.childElementCount === 0) fill(result, h("p", {}, texts.loading));
    try {
      const order = { profile_uuid: profile.uuid, mac: phone.value(), ...unsaved };
      const { data } = await api.post("phone-profiles/switch/preview", order, AbortSignal.any([signal, own]));
      const note = isTyped && h("p", { className: "state wait" }, texts.previewOfTyped);
      fill(result, note, ...previewedBeside(data));
    } catch (error) {
      if (signal.aborted || own.aborted) return;
      if (error instanceof ApiError && error.status === 429 && error.retryAfter > 0) {
        next = Date.now() + error.retryAfter * 1000;
        if (!result.querySelector(".diff, .facts")) fill(result);
        soon();
      } else fill(result, errorBox(error));
    }
  }
  return { element: phone.element, result, show, soon, ready: phone.ready };
}

/** @param {HTMLElement} panel @param {Profile} profile @param {AbortSignal} signal */
export async function usesPart(panel, profile, signal) {
  const path = withQuery("deployments", {
    profile_uuid: profile.uuid,
    current: true,
    before: NEWEST,
    limit: 200,
  });
  /** @type {import("../../types").Deployment[]} */
  const rows = (await api.get(path, signal)).data;
  const names = await phoneNames(rows.map(({ mac }) => mac), signal);
  fill(
    panel,
    simpleTable(
      texts.deployedOn,
      [texts.phone, texts.revision, texts.since, texts.confirmation],
      rows.map((one) => [
        h("a", { href: `#/phones/${one.mac}` }, phoneTitle({ mac: one.mac, name: names.get(one.mac) })),
        one.revision,
        when(one.ended_at ?? one.created_at),
        texts.confirmations[one.confirmation],
      ]),
      texts.onNoPhone,
    ),
  );
}

/** Another text was saved meanwhile.
 * @param {string} theirs @param {string} mine @param {() => void} overwrite */
export function conflictBox(theirs, mine, overwrite) {
  const place = h("div");
  return h(
    "div",
    { className: "error", role: "alert" },
    h("p", {}, h("strong", {}, texts.changedMeanwhile)),
    h("p", {}, texts.changedMeanwhileHint),
    h(
      "p",
      { className: "actions" },
      h(
        "button",
        {
          type: "button",
          onclick: () => fill(place, sideBySide(linesOf(theirs, mine), texts.stored, texts.mine)),
        },
        texts.showStored,
      ),
      h("button", { type: "button", className: "danger", onclick: overwrite }, texts.overwrite),
    ),
    place,
  );
}
