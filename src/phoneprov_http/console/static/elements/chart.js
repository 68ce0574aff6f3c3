/** Charts as SVG, each with a table for readers of the screen. */

import { h, s } from "../dom.js";
import { count } from "../format.js";
import { texts } from "../texts.js";
import { simpleTable } from "./simple-table.js";

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
