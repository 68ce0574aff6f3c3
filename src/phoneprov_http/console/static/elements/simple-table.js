/** A short table whose rows are all in the page. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

/**
 * @param {string} caption
 * @param {string[]} titles
 * @param {import("../dom.js").Child[][]} rows the first cell of each is its heading
 * @param {string} [empty]
 */
export function simpleTable(caption, titles, rows, empty) {
  if (rows.length === 0) return h("p", {}, empty ?? texts.noRows);
  return h(
    "div",
    { className: "table", tabIndex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))),
      h(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((cell) => h("td", {}, cell))),
        ),
      ),
    ),
  );
}
