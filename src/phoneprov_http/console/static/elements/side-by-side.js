/** A unified diff of the server, shown in two columns. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

/**
 * @typedef {{kind: "same" | "changed" | "gap", old: [number, string] | null,
 *   new: [number, string] | null}} Line
 */

/**
 * Pair the lines of a unified diff.
 *
 * @param {string} diff
 * @returns {Line[]}
 */
export function pairs(diff) {
  /** @type {Line[]} */
  const lines = [];
  let [oldNumber, newNumber] = [0, 0];
  /** @type {[number, string][]} */
  let removed = [];
  /** @type {[number, string][]} */
  let added = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) {
      lines.push({ kind: "changed", old: removed[i] ?? null, new: added[i] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const text of diff.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (hunk) {
      flush();
      if (lines.length > 0) lines.push({ kind: "gap", old: null, new: null });
      [oldNumber, newNumber] = [Number(hunk[1]), Number(hunk[2])];
    } else if (oldNumber === 0 && newNumber === 0) {
      continue; // the names of both sides stand before the first hunk
    } else if (text.startsWith("-")) {
      removed.push([oldNumber++, text.slice(1)]);
    } else if (text.startsWith("+")) {
      added.push([newNumber++, text.slice(1)]);
    } else if (text.startsWith(" ")) {
      flush();
      const line = text.slice(1);
      lines.push({ kind: "same", old: [oldNumber++, line], new: [newNumber++, line] });
    }
  }
  flush();
  return lines;
}

/**
 * @param {string} diff
 * @param {string} before title of the left side
 * @param {string} after title of the right side
 */
export function sideBySide(diff, before, after) {
  const rows = pairs(diff).map(({ kind, old, new: fresh }) =>
    kind === "gap"
      ? h("tr", { className: "gap" }, h("td", { colSpan: 4 }, "⋯"))
      : h(
          "tr",
          { className: kind },
          ...side(old, kind === "changed" ? "removed" : ""),
          ...side(fresh, kind === "changed" ? "added" : ""),
        ),
  );
  const head = h(
    "tr",
    {},
    h("th", { scope: "col", colSpan: 2 }, before),
    h("th", { scope: "col", colSpan: 2 }, after),
  );
  return h(
    "div",
    { className: "diff", tabIndex: 0, role: "region", "aria-label": texts.changes },
    h(
      "table",
      {},
      h("colgroup", {}, ...["number", "", "number", ""].map((className) => h("col", { className }))),
      h("thead", {}, head),
      h("tbody", {}, ...rows),
    ),
  );
}

/** @param {[number, string] | null} line @param {string} kind */
function side(line, kind) {
  if (line === null) return [h("td", { className: "number" }), h("td", { className: "empty" })];
  const mark = { removed: "−", added: "+" }[kind] ?? " ";
  return [
    h("td", { className: "number" }, line[0]),
    h("td", { className: kind }, h("code", {}, `${mark} ${line[1]}`)),
  ];
}
