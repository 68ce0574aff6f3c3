/** Numbers and steps as drawings, each with its words. */

import { count, duration, h, icon, s } from "../dom.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";
import { meaningOf, simpleTable } from "./parts.js";

// Charts as SVG, each with a table for readers of the screen.

const MOST_LABELS = 7;
const HEIGHT = 100;
const STEPS = [1, 2, 5, 10];

/** The distance of the lines of a chart whose largest value this is. @param {number} most */
export function distanceOf(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(most / 4, 1)));
  return power * (STEPS.find((step) => most / (step * power) <= 4) ?? 10);
}

/**
 * Stacked bars. The drawing is stretched to the width of its place; the labels are not.
 *
 * @param {{caption: string, series: {name: string, className: string}[],
 *   rows: {label: string, href?: string, values: number[]}[]}} options
 */
export function barChart({ caption, series, rows }) {
  const most = Math.max(1, ...rows.map(({ values }) => values.reduce((sum, one) => sum + one, 0)));
  const distance = distanceOf(most);
  const ticks = Array.from({ length: Math.ceil(most / distance) + 1 }, (_, place) => place * distance);
  const top = ticks[ticks.length - 1];
  const lines = ticks.map((value) => {
    const y = HEIGHT * (1 - value / top);
    return s("line", { x1: 0, x2: rows.length, y1: y, y2: y, class: "grid", "vector-effect": "non-scaling-stroke" });
  });
  const bars = rows.map(({ label, href, values }, place) => {
    let y = HEIGHT;
    const said = `${label}: ${series.map(({ name }, at) => `${name} ${count(values[at])}`).join(", ")}`;
    const parts = values.map((value, at) => {
      const height = (value / top) * HEIGHT;
      y -= height;
      return value > 0 && s("rect", { x: place + 0.15, y, width: 0.7, height, class: series[at].className });
    });
    // The whole column shows the numbers and leads on.
    const column = s("rect", { x: place, y: 0, width: 1, height: HEIGHT, class: "column" });
    const group = [s("title", {}, said), column, ...parts];
    return href ? s("a", { href, tabindex: -1 }, ...group) : s("g", {}, ...group);
  });
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${rows.length} ${HEIGHT}`, preserveAspectRatio: "none" },
    ...lines,
    ...bars,
  );
  // As many labels as have room, the last one always.
  const step = Math.ceil(rows.length / MOST_LABELS);
  const labels = rows.flatMap(({ label }, place) =>
    (rows.length - 1 - place) % step === 0 ? [at("left", (place + 0.5) / rows.length, label)] : [],
  );
  return h(
    "figure",
    {},
    h(
      "ul",
      { className: "legend", "aria-hidden": "true" },
      ...series.map(({ name, className }) => h("li", { className }, name)),
    ),
    h(
      "div",
      { className: "chart", "aria-hidden": "true" },
      h("div", { className: "up" }, ...ticks.map((value) => at("bottom", value / top, count(value)))),
      drawing,
      h("div", { className: "along" }, ...labels),
    ),
    h("details", {}, h("summary", {}, texts.asTable), table(caption, series, rows)),
  );
}

/** A label of an axis. @param {"left" | "bottom"} side @param {number} share @param {string} text */
function at(side, share, text) {
  const label = h("span", {}, text);
  label.style[side] = `${share * 100}%`;
  return label;
}

/** @param {string} caption @param {{name: string}[]} series
 * @param {{label: string, href?: string, values: number[]}[]} rows */
function table(caption, series, rows) {
  return simpleTable(
    caption,
    [texts.day, ...series.map(({ name }) => /** @type {[string, string]} */ ([name, "number"]))],
    rows.map(({ label, href, values }) => [href ? h("a", { href }, label) : label, ...values.map(count)]),
  );
}

/**
 * Names with their numbers as bars, the largest first; each leads to its list.
 *
 * @param {{label: string, href: string, value: number}[]} rows
 */
export function barList(rows) {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return h(
    "ul",
    { className: "bars" },
    ...rows.map(({ label, href, value }) => {
      const bar = h("span", { className: "bar" });
      bar.style.width = `calc(${value / most} * (100% - 3.5rem))`;
      return h("li", {}, bar, h("a", { href }, label), h("span", { className: "number" }, count(value)));
    }),
  );
}

// A whole as a bar of its parts: how far a batch is, in which states the phones are.

const PARTS = /** @type {const} */ (["done", "failed", "unknown", "left_out", "running"]);

/**
 * @param {string} said what the bar says to readers of the screen
 * @param {[string, number][]} parts the class and the size of each
 * @param {number} total
 * @param {boolean} [isLarge]
 */
export function stack(said, parts, total, isLarge = false) {
  const shown = parts.map(([className, size]) => {
    const part = h("span", { className });
    part.style.width = `${(size / Math.max(total, 1)) * 100}%`;
    return part;
  });
  const className = isLarge ? "stack large" : "stack";
  return h("span", { className, role: "img", "aria-label": said, title: said }, ...shown);
}

/** @param {import("../../types").Batch["phones"]} phones @param {boolean} [isLarge] */
export function progressBar(phones, isLarge = false) {
  const parts = PARTS.map((name) => /** @type {[string, number]} */ ([name, phones[name]]));
  return stack(texts.progressOf(phones), parts, phones.total, isLarge);
}

// The steps of a deployment and its confirmation, as they happen.

const STEP_NAMES = ["upload", "clear_session", "restart"];

/** @param {import("../../types").Deployment} deployment
 * @param {string} [shown] a message that stands above the steps already */
export function stepTimeline(deployment, shown = "") {
  const done = new Map(deployment.steps.map((step) => [/** @type {string} */ (step.name), step]));
  const running = deployment.outcome === "running";
  // A running record has no steps yet; the place is known as soon as the upload is verified.
  const at = done.size > 0 ? done.size : deployment.place === null ? 0 : 1;
  const names = done.has("lines") ? [...STEP_NAMES, "lines"] : STEP_NAMES;
  const items = names.map((name, position) => {
    const step = done.get(name);
    if (step) {
      const isUnknown = step.ok === null || (name === "upload" && deployment.outcome === "unknown");
      const state = isUnknown ? "unknown" : step.ok ? "done" : "failed";
      return item(state, texts.steps[name], [inWords(step.message ?? "") === shown ? null : step.message, duration(step.duration_ms)]);
    }
    if (running && position < at) return item("done", texts.steps[name], []);
    if (running && position === at) return item("running", texts.steps[name], []);
    return item(running ? "waiting" : "skipped", texts.steps[name], []);
  });
  const { confirmation, confirmation_message: message } = deployment;
  const state =
    { confirmed: "done", pending: "running", not_confirmed: "failed" }[
      /** @type {"confirmed"} */ (confirmation)
    ] ?? (running ? "waiting" : "skipped");
  const said = state === "waiting" ? "" : `: ${texts.confirmations[confirmation]}`;
  items.push(item(state, texts.confirmation + said, [message]));
  return h("ol", { className: "timeline" }, ...items);
}

/** @param {string} state @param {string} title @param {(string | null)[]} details */
function item(state, title, details) {
  const word = {
    done: texts.stepDone,
    failed: texts.stepFailed,
    running: texts.stepRunning,
    waiting: texts.stepWaiting,
    skipped: texts.stepSkipped,
    unknown: texts.stepUnknown,
  }[/** @type {"done"} */ (state)];
  return h(
    "li",
    { className: state },
    h("span", { className: "state" }, icon(meaningOf(state)), word),
    h("strong", {}, title),
    ...details.map((text) => text && h("span", { className: "detail" }, inWords(text))),
  );
}
