/** A short table whose rows are all in the page. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

/** A column of sentences, which gets the width that the others leave.
 * @param {string} title @returns {[string, string]} */
export const sentences = (title) => [title, "text"];

/**
 * @param {string} caption
 * @param {(string | [string, string])[]} titles those with a class for their cells, too
 * @param {import("../dom.js").Child[][]} rows the first cell of each is its heading
 * @param {string} [empty]
 */
export function simpleTable(caption, titles, rows, empty) {
  if (rows.length === 0) return h("p", {}, empty ?? texts.noRows);
  const columns = titles.map((title) => (typeof title === "string" ? [title, ""] : title));
  return h(
    "div",
    { className: "table", tabIndex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...columns.map(([title, className]) => h("th", { scope: "col", className }, title)))),
      h(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((cell, place) => h("td", { className: columns[place + 1][1], "data-title": columns[place + 1][0] }, cell))),
        ),
      ),
    ),
  );
}
