/** The state of the whole at a glance; each part leads to its list. */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h, update } from "../dom.js";
import { barChart, barList } from "../elements/chart.js";
import { errorBox } from "../elements/error-box.js";
import { badge } from "../elements/facts.js";
import { progressBar } from "../elements/progress.js";
import { heading } from "../elements/heading.js";
import { simpleTable } from "../elements/simple-table.js";
import { ago, count, day } from "../format.js";
import { icon } from "../icons.js";
import { texts } from "../texts.js";
import { pause } from "../transport.js";
import { newestBatches } from "./batches.js";
import { problemOf } from "./deployment.js";

const DAYS = 7;
const POLL_MS = 30_000;
const MOST_PLACES = 12;
const OUTCOMES = ["deployed", "failed", "unknown", "interrupted"];

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const parts = [numbers, attention, days, places, batches, failures];
  const panels = parts.map(({ name: id }) => h("section", { className: `panel ${id}` }));
  fill(
    element,
    heading(
      texts.overview,
      h("a", { className: "button primary", href: "#/switch" }, texts.switchTitle),
      h("a", { className: "button", href: "#/batches/new" }, texts.newBatch),
    ),
    h("div", { className: "dashboard" }, ...panels),
  );
  const draw = () =>
    Promise.all(
      parts.map(async (part, place) => {
        try {
          update(panels[place], ...(await part(signal)));
        } catch (error) {
          if (!signal.aborted) fill(panels[place], errorBox(error));
        }
      }),
    );
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

/** @param {AbortSignal} signal */
async function numbers(signal) {
  const [all, inactive, used, ...outcomes] = await Promise.all([
    api.count("phones", {}, signal),
    api.count("phones", { is_active: false }, signal),
    api.count("phones", { in_use: true }, signal),
    ...["deployed", "none"].map((one) => api.count("phones", { last_outcome: one }, signal)),
  ]);
  return [
    h("h2", { className: "hidden" }, texts.phonesTotal),
    h(
      "div",
      { className: "tiles" },
      tile(texts.phonesTotal, "#/phones", all, inactive ? texts.inactivePhones(inactive) : ""),
      tile(texts.outcomes.deployed, "#/phones?last_outcome=deployed", outcomes[0]),
      tile(texts.neverDeployed, "#/phones?last_outcome=none", outcomes[1]),
      tile(texts.inUse, "#/desks?in_use=true", used),
    ),
  ];
}

/** @param {AbortSignal} signal */
async function attention(signal) {
  const [failed, unknown, interrupted, discovered] = await Promise.all([
    ...["failed", "unknown", "interrupted"].map((one) =>
      api.count("phones", { last_outcome: one }, signal),
    ),
    api.count("discovered-phones", {}, signal),
  ]);
  const rows = /** @type {[number, string, string, string][]} */ ([
    [failed, "bad", "#/phones?last_outcome=failed", texts.failedPhones(failed)],
    [unknown, "unknown", "#/phones?last_outcome=unknown", texts.unknownPhones(unknown)],
    [interrupted, "bad", "#/phones?last_outcome=interrupted", texts.interruptedPhones(interrupted)],
    [discovered, "wait", "#/discovered", texts.discoveredPhones(discovered)],
  ]).filter(([number]) => number > 0);
  return [
    h("h2", {}, texts.attention),
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

/** @param {AbortSignal} signal */
async function days(signal) {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const begins = Array.from({ length: DAYS }, (_, place) => {
    const begin = new Date(midnight);
    begin.setDate(begin.getDate() - (DAYS - 1 - place));
    return begin;
  });
  const rows = await Promise.all(
    begins.map(async (begin) => {
      const end = new Date(begin);
      end.setDate(end.getDate() + 1);
      const range = { since: begin.toISOString(), until: end.toISOString() };
      const values = await Promise.all(
        OUTCOMES.map((outcome) => api.count("deployments", { ...range, outcome }, signal)),
      );
      const local = { since: localOf(begin), until: localOf(end) };
      return { label: day(begin), href: `#${withQuery("/deployments", local)}`, values };
    }),
  );
  const series = OUTCOMES.map((one) => ({ name: texts.outcomes[one], className: one }));
  return [h("h2", {}, texts.lastDays), barChart({ caption: texts.lastDays, series, rows })];
}

/** As a field of the browser shows it. @param {Date} date */
const localOf = (date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}T00:00`;

/** @param {AbortSignal} signal */
async function places(signal) {
  const { data } = await api.get("phones/counts?by=location", signal);
  const rows = data.slice(0, MOST_PLACES).map((/** @type {any} */ one) => ({
    label: one.value ?? texts.noLocation,
    href: one.value === null ? "#/phones" : `#${withQuery("/phones", { location: one.value })}`,
    value: one.phones,
  }));
  return [h("h2", {}, texts.byLocation), rows.length > 0 ? barList(rows) : h("p", {}, texts.noRows)];
}

/** @param {AbortSignal} signal */
async function batches(signal) {
  const { rows } = await newestBatches(0, 5, signal);
  return [
    h("h2", {}, texts.runningBatches),
    simpleTable(
      texts.runningBatches,
      [texts.started, texts.action, texts.state, texts.progress],
      rows.map((one) => [
        h("a", { href: `#/batches/${one.uuid}` }, ago(one.created_at)),
        texts.actions[one.action],
        badge(one.state, texts.batchStates),
        h("span", {}, progressBar(one.phones), count(one.phones.total)),
      ]),
      texts.noBatchRuns,
    ),
  ];
}

/** @param {AbortSignal} signal */
async function failures(signal) {
  const since = new Date(Date.now() - DAYS * 86_400_000).toISOString();
  const path = withQuery("deployments", { outcome: "failed", since, before: NEWEST, limit: 8 });
  const { data } = await api.get(path, signal);
  return [
    h("h2", {}, texts.recentFailures),
    simpleTable(
      texts.recentFailures,
      [texts.at, texts.phone, texts.message],
      data.map((/** @type {import("../../types").Deployment} */ one) => [
        h("a", { href: `#/deployments/${one.uuid}` }, ago(one.created_at)),
        h("a", { href: `#/phones/${one.mac}` }, one.mac),
        problemOf(one),
      ]),
      texts.noFailures,
    ),
  ];
}
