/** The state of the whole at a glance; each part leads to its list. */

import { NEWEST, api, pause, withQuery } from "../api.js";
import { ago, clock, count, fill, h, icon, update, utcDay } from "../dom.js";
import { barChart, barList, progressBar, stack } from "../elements/chart.js";
import { errorBox, heading, help, meaningOf, sentences, simpleTable } from "../elements/parts.js";
import { texts } from "../texts.js";
import { newestBatches, phoneNames, problemOf, stateOf } from "./shared.js";

const DAYS = 30;
const FAILURE_DAYS = 7;
const DAY_MS = 86_400_000;
const POLL_MS = 30_000;
const MOST_PLACES = 12;
/** Running and planned batches are shown first. */
const MOST_BATCHES = 6;
const RECENT_BATCHES = 100;
const OUTCOMES = ["deployed", "failed", "unknown", "interrupted"];

/**
 * @typedef {{phones: number, states: Record<string, number>, last_outcomes: Record<string, number>,
 *   models: Record<string, number>, loads: Record<string, number>, drills: Record<string, number>,
 *   locations: Record<string, number>, inactive: number, in_use: number, discovered: number,
 *   days: {day: string, outcomes: Record<string, number>}[]}} Numbers
 */

/** @type {import("../router.js").View} */
export async function overviewView({ element, signal }) {
  const parts = [numbers, days, attention, failures, batches, places, models, loads];
  const panels = parts.map(({ name: id }) => h("section", { className: `panel ${id}` }));
  const dashboard = h("div", { className: "dashboard", hidden: true }, ...panels);
  const read = h("span", { className: "quiet roomy" });
  fill(
    element,
    heading(
      texts.overview,
      read,
      h("a", { className: "button primary", href: "#/switch" }, texts.switchTitle),
      h("a", { className: "button", href: "#/batches/new" }, texts.newBatch),
      help("how-to/watch-the-fleet"),
    ),
    dashboard,
  );
  const draw = async () => {
    const fleet = api.get(`fleet?days=${DAYS}`, signal).then(({ data }) => /** @type {Numbers} */ (data));
    const contents = await Promise.all(
      parts.map(async (part) => {
        try {
          return await part(signal, await fleet);
        } catch (error) {
          return [errorBox(error)];
        }
      }),
    );
    if (signal.aborted) return;
    // All at once: no panel moves another one.
    dashboard.hidden = false;
    panels.forEach((panel, place) => update(panel, ...contents[place]));
    fill(read, texts.readAt(clock(new Date())));
  };
  await draw();
  void (async () => {
    for (;;) {
      await pause(POLL_MS, signal);
      if (!document.hidden) await draw();
    }
  })().catch(() => {});
}

/** @param {string} title @param {string} href @param {number} value @param {string} [more] */
function tile(title, href, value, more = "") {
  return h(
    "a",
    { className: "tile", href },
    h("span", {}, title),
    h("strong", {}, count(value)),
    h("small", {}, more),
  );
}

/** @param {AbortSignal} _ @param {Numbers} fleet */
function numbers(_, fleet) {
  const { inactive, in_use: used } = fleet;
  const { deployed = 0, none = 0 } = fleet.last_outcomes;
  const { never_seen: unseen = 0, fine = 0 } = fleet.states;
  const isWatched = unseen < fleet.phones;
  const share = (/** @type {number} */ value) => texts.shareOf(fleet.phones > 0 ? value / fleet.phones : 0);
  return [
    h("h2", { className: "hidden" }, texts.phonesTotal),
    h(
      "div",
      { className: "tiles" },
      tile(texts.phonesTotal, "#/phones?is_active=true", fleet.phones, inactive ? texts.inactivePhones(inactive) : ""),
      isWatched && tile(texts.asRecorded, "#/phones?state=fine", fine, share(fine)),
      tile(texts.outcomes.deployed, "#/phones?last_outcome=deployed&is_active=true", deployed, share(deployed)),
      tile(texts.neverDeployed, "#/phones?last_outcome=none&is_active=true", none, share(none)),
      tile(texts.inUse, "#/desks?in_use=true", used, share(used)),
    ),
  ];
}

/** @param {AbortSignal} _ @param {Numbers} fleet */
function attention(_, fleet) {
  const { discovered } = fleet;
  const { failed = 0, unknown = 0, interrupted = 0 } = fleet.last_outcomes;
  const outcome = (/** @type {string} */ one) => `#/phones?last_outcome=${one}&is_active=true`;
  const rows = /** @type {[number, string, string, string][]} */ ([
    [failed, "bad", outcome("failed"), texts.failedPhones(failed)],
    [unknown, "unknown", outcome("unknown"), texts.unknownPhones(unknown)],
    [interrupted, "wait", outcome("interrupted"), texts.interruptedPhones(interrupted)],
    ...Object.entries(fleet.states)
      .filter(([state]) => state !== "fine" && state !== "never_seen")
      .map(([state, number]) => [
        number,
        meaningOf(state),
        `#/phones?state=${state}`,
        texts.inState(texts.states[state].toLowerCase(), number),
      ]),
    [fleet.drills.differs ?? 0, "bad", "#/phones?last_drill=differs&is_active=true", texts.drilledPhones(fleet.drills.differs ?? 0)],
    [discovered, "wait", "#/discovered", texts.discoveredPhones(discovered)],
  ]).filter(([number]) => number > 0);
  return [
    h("h2", {}, texts.attention),
    ...fleetBar(fleet),
    rows.length === 0
      ? h("p", { className: "state good" }, icon("good"), texts.nothingNeedsAttention)
      : h(
          "ul",
          { className: "states" },
          ...rows.map(([, meaning, href, text]) =>
            h("li", { className: `state ${meaning}` }, icon(meaning), h("a", { href }, text)),
          ),
        ),
  ];
}

/** The states of all phones; nothing while none was looked at. @param {Numbers} fleet */
function fleetBar({ states, phones }) {
  const order = ["good", "wait", "bad", "unknown"];
  const names = Object.keys(texts.states)
    .filter((name) => states[name] > 0)
    .toSorted((one, other) => order.indexOf(meaningOf(one)) - order.indexOf(meaningOf(other)));
  if (names.every((name) => name === "never_seen")) return [];
  const said = names.map((name) => texts.inState(texts.states[name].toLowerCase(), states[name]));
  const parts = names.map((name) => /** @type {[string, number]} */ ([meaningOf(name), states[name]]));
  // A phone may have several states.
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  // The others have a row below.
  const legend = names.filter((name) => ["fine", "never_seen"].includes(name));
  return [
    stack(said.join(", "), parts, Math.max(phones, total), true),
    h("ul", { className: "legend" }, ...legend.map((name) => h("li", { className: meaningOf(name) }, h("a", { href: `#/phones?state=${name}` }, `${name === "fine" ? texts.asRecorded : texts.states[name]}: ${count(states[name])}`)))),
  ];
}

/** @param {AbortSignal} _ @param {Numbers} fleet */
function days(_, fleet) {
  const found = new Map(fleet.days.map((one) => [one.day, one.outcomes]));
  const rows = Array.from({ length: DAYS }, (_one, place) => {
    const begin = new Date(Date.now() - (DAYS - 1 - place) * DAY_MS);
    const name = begin.toISOString().slice(0, 10);
    const since = new Date(`${name}T00:00:00Z`);
    const range = { since: localOf(since), until: localOf(new Date(since.getTime() + DAY_MS)) };
    const values = OUTCOMES.map((outcome) => found.get(name)?.[outcome] ?? 0);
    return { label: utcDay(since), href: `#${withQuery("/deployments", range)}`, values };
  });
  const series = OUTCOMES.map((one) => ({ name: texts.outcomes[one], className: one }));
  return [h("h2", {}, texts.lastDays), barChart({ caption: texts.lastDays, series, rows })];
}

/** As a field of the browser shows it. @param {Date} date */
const localOf = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** @param {AbortSignal} _ @param {Numbers} fleet */
const models = (_, fleet) => [h("h2", {}, texts.byModel), bars(fleet.models, "model")];

/** @param {AbortSignal} _ @param {Numbers} fleet */
const loads = (_, fleet) => [h("h2", {}, texts.byLoad), bars(fleet.loads, "q", texts.noLoads)];

/** @param {AbortSignal} _ @param {Numbers} fleet */
const places = (_, fleet) => [h("h2", {}, texts.byLocation), bars(fleet.locations, "location")];

/** @param {Record<string, number>} counts @param {string} name of the filter @param {string} [empty] */
function bars(counts, name, empty = texts.noRows) {
  const rows = Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MOST_PLACES)
    .map(([label, value]) => ({ label: label || texts.noLocation, value, href: `#${withQuery("/phones", { [name]: label, is_active: true })}` }));
  return rows.length > 0 ? barList(rows) : h("p", { className: "quiet" }, empty);
}

/** @param {AbortSignal} signal */
async function batches(signal) {
  const { rows: newest } = await newestBatches(0, RECENT_BATCHES, signal);
  const isOpen = (/** @type {import("../../types").Batch} */ one) => one.ended_at === null;
  const rows = [...newest.filter(isOpen), ...newest.filter((one) => !isOpen(one))].slice(0, MOST_BATCHES);
  return [
    h("h2", {}, texts.runningBatches),
    simpleTable(
      texts.runningBatches,
      [texts.batch, texts.state, texts.progress],
      rows.map((one) => [
        h("a", { href: `#/batches/${one.uuid}` }, texts.batchTitle(texts.actions[one.action], one.phones.total)),
        stateOf(one),
        progressBar(one.phones),
      ]),
      texts.noBatches,
    ),
  ];
}

/** @param {AbortSignal} signal */
async function failures(signal) {
  const since = new Date(Date.now() - FAILURE_DAYS * DAY_MS).toISOString();
  const path = withQuery("deployments", { outcome: "failed", since, before: NEWEST, limit: 8 });
  const { data } = await api.get(path, signal);
  const names = await phoneNames(data.map((/** @type {any} */ one) => one.mac), signal);
  return [
    h("h2", {}, texts.recentFailures),
    simpleTable(
      texts.recentFailures,
      [texts.at, texts.phone, sentences(texts.message)],
      data.map((/** @type {import("../../types").Deployment} */ one) => [
        h("a", { href: `#/deployments/${one.uuid}` }, ago(one.created_at)),
        h("a", { href: `#/phones/${one.mac}`, title: one.mac }, names.get(one.mac) || one.mac),
        problemOf(one),
      ]),
      texts.noFailures,
    ),
  ];
}
