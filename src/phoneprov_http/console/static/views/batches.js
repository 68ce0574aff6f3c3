/** Batches, one batch, and the plan of one. */

import { api, pause, session, withQuery } from "../api.js";
import { ago, count, fill, h, moments, update, when } from "../dom.js";
import { progressBar } from "../elements/chart.js";
import { dataList } from "../elements/data-list.js";
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
  sentences,
  simpleTable,
} from "../elements/parts.js";
import { searchBar } from "../elements/search-bar.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";
import { NUMBER, batchButton, newestBatches, peopleIn, phoneTitle, phonesAmong, profileOf, stateOf, username, withNumbers } from "./shared.js";

/** @typedef {import("../../types").Batch} Batch */
/** @typedef {import("../../types").BatchPhone & {name?: string | null, whose?: import("../../types").Numbered}} BatchPhone */

// What a batch would change, in groups of phones with the same difference; and what it would do.

/**
 * @typedef {{count: number, macs: string[], diff: string}} Group
 * @typedef {{count: number, macs: string[], message: string}} Problem
 * @param {{phones: number, unchanged: number, changed: number, unfit: number, groups: Group[],
 *   problems: Problem[], notes: Problem[],
 *   first: {mac: string, outcome: keyof typeof texts.firstOutcomes}[]}} plan
 * @param {Map<string, string>} [names] of the phones
 */
export function planned(plan, names = new Map()) {
  return [
    h("h2", {}, texts.planTitle),
    facts(
      [
        [texts.phones, count(plan.phones)],
        [texts.planChanged, count(plan.changed)],
        [texts.planUnchanged, count(plan.unchanged)],
        [texts.planUnfit, count(plan.unfit)],
      ],
      "across",
    ),
    plan.first.length > 0 &&
      h("p", {}, `${texts.first}: `, ...plan.first.slice(0, MOST_NAMED).flatMap((one) => [linkTo(one.mac, names), ` (${texts.firstOutcomes[one.outcome]}) `]), plan.first.length > MOST_NAMED && texts.andMore(plan.first.length - MOST_NAMED)),
    ...plan.groups.map((group) =>
      h("section", { className: "panel" }, h("h2", {}, texts.planGroup(group.count)), lines(group.diff), phones(group, names)),
    ),
    ...[
      { title: texts.planNotes, found: plan.notes },
      { title: texts.whyUnfit, found: plan.problems },
    ].map(
      ({ title, found }) =>
        found.length > 0 &&
        simpleTable(
          title,
          [texts.message, texts.phones],
          found.map((one) => [inWords(one.message), phones(one, names)]),
        ),
    ),
  ];
}

/**
 * What a batch would do.
 * @param {import("../../types").Rehearsal} rehearsal
 * @param {Map<string, string>} [names] of the phones
 */
export function rehearsed(rehearsal, names = new Map()) {
  const { outcomes, foretold } = rehearsal;
  const unknown = foretold.filter((one) => one.outcome === "unknown").map((one) => one.mac);
  const kinds = /** @type {(keyof typeof outcomes)[]} */ (Object.keys(texts.rehearsalOutcomes));
  const undone = /** @type {[string, string][]} */ ([[texts.wouldBeUndone, count(rehearsal.undone)]]);
  return [
    h("h2", {}, texts.rehearsalTitle(moments(rehearsal.as_of))),
    rehearsal.stopped_because && h("p", { className: "problem" }, `${texts.wouldStop}: ${inWords(rehearsal.stopped_because)}`),
    facts(
      [
        [texts.phones, count(rehearsal.phones)],
        ...kinds.map((kind) => /** @type {[string, string]} */ ([texts.rehearsalOutcomes[kind], count(outcomes[kind])])),
        [
          texts.wouldTake,
          outcomes.postponed + outcomes.unknown > 0 ? texts.uncertain(lasting(rehearsal.seconds)) : lasting(rehearsal.seconds),
        ],
        ...(rehearsal.undone > 0 ? undone : []),
      ],
      "across",
    ),
    rehearsal.first_failures.length > 0 &&
      simpleTable(
        texts.wouldFail,
        [texts.phone, sentences(texts.message), texts.evidence],
        rehearsal.first_failures.map((one) => [linkTo(one.mac, names), inWords(one.message), ...known(one)]),
      ),
    unknown.length > 0 && h("h2", {}, texts.phonesNotKnown),
    unknown.length > 0 && phones({ count: unknown.length, macs: unknown.slice(0, MOST_NAMED) }, names),
    simpleTable(
      texts.timeline,
      [texts.afterSeconds, sentences(texts.message)],
      rehearsal.timeline.map((one) => [lasting(one.seconds), inWords(one.message)]),
    ),
  ];
}

const MOST_NAMED = 20;

/** @param {{evidence: keyof typeof texts.evidences, evidence_at: string | null}} one */
function known({ evidence, evidence_at }) {
  return [[texts.evidences[evidence], evidence_at && moments(evidence_at)].filter(Boolean).join(", ")];
}

/** @param {number} seconds */
const lasting = (seconds) =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

/** @param {string} mac @param {Map<string, string>} names */
const linkTo = (mac, names) => h("a", { href: `#/phones/${mac}` }, phoneTitle({ mac, name: names.get(mac) }));

/** @param {string} diff */
function lines(diff) {
  const kinds = /** @type {Record<string, "ins" | "del" | "span">} */ ({ "+": "ins", "-": "del" });
  return h(
    "pre",
    { className: "code", tabIndex: 0, role: "region", "aria-label": texts.changes },
    ...diff.trimEnd().split("\n").map((line) => h(kinds[line[0]] ?? "span", {}, `${line}\n`)),
  );
}

/** @param {{count: number, macs: string[]}} group @param {Map<string, string>} names */
function phones({ count: all, macs }, names) {
  const links = macs.flatMap((mac) => [linkTo(mac, names), " "]);
  return h("p", { className: "quiet" }, ...links, all > macs.length && texts.andMore(all - macs.length));
}

// All batches, newest first.

/** @type {import("../router.js").View} */
export async function batchesView({ element }) {
  const list = /** @type {import("../elements/data-list.js").DataList<Batch>} */ (dataList());
  const add = h("a", { className: "button primary", href: "#/batches/new" }, texts.newBatch);
  element.classList.add("with-list");
  fill(element, heading(texts.batches, add, help("how-to/switch-a-floor")), list);
  /** @type {import("../elements/data-list.js").Column<Batch>[]} */
  const columns = [
    { title: texts.started, sort: "created_at", cell: (batch) => when(batch.created_at), text: (batch) => batch.created_at, width: "14.5rem" },
    { title: texts.action, sort: "action", cell: (batch) => texts.actions[batch.action], width: "5.5rem" },
    { title: texts.profile, sort: "profile", cell: profileOf, isOptional: true, width: "16.5rem" },
    { title: texts.state, sort: "state", cell: stateOf, width: "9rem" },
    {
      title: texts.progress,
      cell: ({ phones }) => h("span", {}, h("span", { "aria-hidden": true }, progressBar(phones)), texts.progressOf(phones)),
      text: ({ phones }) => texts.progressOf(phones),
    },
  ];
  await list.configure({
    caption: texts.batches,
    path: () => "batches",
    isSortedHere: true,
    columns,
    href: (batch) => `#/batches/${batch.uuid}`,
    empty: () => texts.noBatches,
    load: newestBatches,
  });
}

// One batch, followed while it runs.

const POLL_MS = 2000;
const MOST_EXPLAINED = 500;

/** @type {import("../router.js").View} */
export async function batchView({ element, parameters: [uuid], query, signal }) {
  const path = `batches/${encodeURIComponent(uuid)}`;
  const list = /** @type {import("../elements/data-list.js").DataList<BatchPhone>} */ (dataList());
  const summary = h("div", { "aria-live": "polite" });
  const cancel = h("button", { className: "danger", onclick: () => stop(cancel, path) }, texts.cancelBatch);
  /** @param {string} states @param {string} text */
  const again = (states, text) =>
    h("a", { className: "button", href: `#${withQuery("/batches/new", { repeat: uuid, states })}` }, text);
  const repeat = again("failed,unknown", texts.repeatFailed);
  const rest = again("left_out,failed,unknown", texts.continueBatch);
  /** @type {import("../../types").Batch} */
  let batch = (await api.get(path, signal)).data;
  const by = await username(batch.user_uuid);
  const search = searchBar(
    `/batches/${uuid}`,
    [{ name: "state", label: texts.state, choices: Object.entries(texts.itemStates) }],
    query,
    () => void list.reload(),
    { isSearched: false },
  );

  function draw() {
    const { phones } = batch;
    update(
      summary,
      progressBar(phones, true),
      facts([
        [texts.state, stateOf(batch)],
        [texts.progress, texts.progressOf(phones)],
        ...(batch.action === "restart" ? [] : [/** @type {[string, string]} */ ([texts.profile, profileOf(batch)])]),
        [texts.whichPhones, [batch.model, batch.location, batch.software_type, batch.template].filter(Boolean).join(", ") || texts.byList],
        ...(batch.start_at
          ? [/** @type {[string, any]} */ ([texts.startsAt, when(batch.start_at)])]
          : [/** @type {[string, any]} */ ([texts.started, when(batch.created_at)])]),
        ...(batch.first ? [/** @type {[string, string]} */ ([texts.first, String(batch.first)])] : []),
        ...(batch.undo_on_stop ? [/** @type {[string, string]} */ ([texts.undoOnStop, texts.yes])] : []),
        ...(batch.newest ? [/** @type {[string, string]} */ ([texts.newest, texts.yes])] : []),
        ...(batch.undo_of
          ? [/** @type {[string, any]} */ ([texts.undoes, h("a", { href: `#/batches/${batch.undo_of}` }, texts.batch)])]
          : []),
        ...(batch.undone_by
          ? [/** @type {[string, any]} */ ([texts.undoneBy, h("a", { href: `#/batches/${batch.undone_by}` }, texts.batch)])]
          : []),
        [texts.by, by],
        ...(batch.ended_at ? [/** @type {[string, any]} */ ([texts.ended, when(batch.ended_at)])] : []),
      ], "across"),
      batch.message ? h("p", { className: `state ${meaningOf(batch.state)}` }, batch.message) : "",
    );
    cancel.hidden = batch.ended_at !== null || !["running", "planned"].includes(batch.state);
    repeat.hidden = batch.ended_at === null || phones.failed + phones.unknown === 0;
    rest.hidden = batch.ended_at === null || phones.left_out === 0;
  }

  const reasons = h("div");
  let explained = 0;
  /** Why phones failed, each reason in full with the number of its phones. */
  async function explain() {
    const { failed, unknown, left_out } = batch.phones;
    if (explained === failed + unknown + left_out) return;
    explained = failed + unknown + left_out;
    const states = ["failed", "unknown", "left_out"];
    const replies = await Promise.all(
      states.map((state) => api.get(withQuery(`${path}/phones`, { state, limit: MOST_EXPLAINED }), signal)),
    );
    fill(reasons, ...reasonsOf(replies.flatMap(({ data }) => data)));
  }

  draw();
  await explain();
  element.classList.add("with-list");
  const title = texts.batchTitle(texts.actions[batch.action], batch.phones.total);
  fill(element, heading(title, cancel, repeat, rest, auditLink(uuid), help("how-to/switch-a-floor")), summary, reasons, search.element, list);
  await list.configure({
    caption: texts.phones,
    path: () => withQuery(`${path}/phones`, search.values()),
    rows: async (phones, abort) => {
      const found = await phonesAmong(phones.map(({ mac }) => mac), {}, abort);
      const names = new Map(found.map(({ mac, name }) => [mac, name]));
      return withNumbers("phones", phones.map((one) => ({ ...one, name: names.get(one.mac) })), abort);
    },
    columns: [
      { title: texts.name, cell: (one) => one.name ?? one.mac, width: "11rem" },
      ...(session.seesPeople
        ? [{ ...NUMBER, sort: undefined }, { title: texts.person, cell: peopleIn, isOptional: true, width: "10rem" }]
        : []),
      { title: texts.mac, cell: (one) => one.mac, width: "11.5rem" },
      { title: texts.state, cell: (one) => badge(one.state, texts.itemStates), width: "8rem" },
      { title: texts.message, cell: (one) => one.message && h("span", { title: inWords(one.message) }, inWords(one.message)) },
      { title: texts.ended, cell: (one) => ago(one.ended_at), text: (one) => one.ended_at, isOptional: true, width: "8rem" },
    ],
    key: (one) => one.mac,
    actions: (macs) => [batchButton(macs)],
    href: (one) => (one.deployment_uuid ? `#/deployments/${one.deployment_uuid}` : `#/phones/${one.mac}`),
  });
  void follow().catch(() => {});

  async function follow() {
    while (batch.ended_at === null) {
      await pause(POLL_MS, signal);
      batch = (await api.get(path, signal)).data;
      draw();
      await explain();
      await list.refresh();
    }
  }
}

/** An address with its port, or a MAC address: what differs in the same reason from phone to phone. */
const ADDRESS = /\b(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[0-9A-F]{2}(?::[0-9A-F]{2}){5})\b/g;

/** The messages of phones with their numbers, the most frequent first. Phones whose messages differ
 * by addresses alone have the same reason.
 * @param {BatchPhone[]} phones */
export function reasonsOf(phones) {
  const counts = new Map();
  for (const { message } of phones) {
    if (!message) continue;
    const said = inWords(message);
    const reason = said.replace(ADDRESS, "…");
    const known = counts.get(reason) ?? { said, number: 0 };
    counts.set(reason, { said: known.said === said ? said : reason, number: known.number + 1 });
  }
  if (counts.size === 0) return [];
  const rows = [...counts.values()].toSorted((one, other) => other.number - one.number);
  return [
    h("h2", {}, texts.reasons),
    h("ul", { className: "reasons" }, ...rows.map(({ said, number }) => h("li", {}, h("b", {}, count(number)), said))),
  ];
}

/** @param {HTMLButtonElement} button @param {string} path */
async function stop(button, path) {
  const details = h("p", {}, texts.cancelBatchHint);
  const isSure = await ask(texts.cancelBatchQuestion, texts.cancelBatch, { isDangerous: true, details });
  if (!isSure) return;
  button.disabled = true;
  try {
    await api.remove(path);
    notice(texts.batchCancelled);
  } catch (error) {
    notice(messageOf(error), "failed");
  } finally {
    button.disabled = false;
  }
}
