/** Charts as SVG, each with a table for readers of the screen. */

import { h, s } from "../dom.js";
import { count } from "../format.js";
import { texts } from "../texts.js";

const MOST_LABELS = 8;
const [WIDTH, HEIGHT, FOOT, LEFT, RIGHT] = [640, 170, 20, 34, 16];

/**
 * Stacked bars.
 *
 * @param {{caption: string, series: {name: string, className: string}[],
 *   rows: {label: string, href?: string, values: number[]}[]}} options
 */
export function barChart({ caption, series, rows }) {
  const most = Math.max(1, ...rows.map(({ values }) => values.reduce((sum, one) => sum + one, 0)));
  const step = (WIDTH - LEFT - RIGHT) / Math.max(rows.length, 1);
  const scale = (HEIGHT - FOOT - 8) / most;
  const lines = [0, most / 2, most].map((value) => {
    const y = HEIGHT - FOOT - value * scale;
    return [
      s("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y, class: "grid" }),
      Number.isInteger(value) && s("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, count(value)),
    ];
  });
  const bars = rows.map(({ label, href, values }, place) => {
    const x = LEFT + place * step + step * 0.2;
    let y = HEIGHT - FOOT;
    const said = `${label}: ${series.map(({ name }, at) => `${name} ${count(values[at])}`).join(", ")}`;
    const parts = values.map((value, at) => {
      const height = value * scale;
      y -= height;
      return value > 0 && s("rect", { x, y, width: step * 0.6, height, class: series[at].className });
    });
    // As many labels as have room, the last one always.
    const isLabelled = (rows.length - 1 - place) % Math.ceil(rows.length / MOST_LABELS) === 0;
    const foot = isLabelled && s("text", { x: x + step * 0.3, y: HEIGHT - 5, "text-anchor": "middle" }, label);
    const group = [s("title", {}, said), ...parts, foot];
    return href ? s("a", { href, tabindex: -1 }, ...group) : s("g", {}, ...group);
  });
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", "aria-hidden": "true" },
    ...lines.flat(),
    ...bars,
  );
  return h(
    "figure",
    {},
    h(
      "ul",
      { className: "legend", "aria-hidden": "true" },
      ...series.map(({ name, className }) => h("li", { className }, name)),
    ),
    drawing,
    h("details", {}, h("summary", {}, texts.asTable), table(caption, series, rows)),
  );
}

/** @param {string} caption @param {{name: string}[]} series
 * @param {{label: string, href?: string, values: number[]}[]} rows */
function table(caption, series, rows) {
  const titles = [texts.day, ...series.map(({ name }) => name)];
  return h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))),
    h(
      "tbody",
      {},
      ...rows.map(({ label, href, values }) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, href ? h("a", { href }, label) : label),
          ...values.map((value) => h("td", {}, count(value))),
        ),
      ),
    ),
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
      bar.style.width = `${(value / most) * 100}%`;
      return h("li", {}, bar, h("a", { href }, label), h("span", { className: "number" }, count(value)));
    }),
  );
}
