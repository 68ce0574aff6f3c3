/** What can be done with a table whose rows are in the page: read it again, export it. */

import { h, update } from "../dom.js";
import { icon } from "../icons.js";
import { texts } from "../texts.js";
import { csvOf, download } from "./csv.js";
import { notice } from "./notice.js";

/**
 * @param {string} caption
 * @param {HTMLElement} place that holds the table
 * @param {() => Promise<void>} refresh
 */
export function tableTools(caption, place, refresh) {
  const said = h("p", { className: "count", role: "status" });
  const read = async () => {
    await refresh();
    notice(texts.refreshed(caption));
  };
  const write = () => {
    const rows = [...place.querySelectorAll("tr")].map((row) => [...row.cells].map(textOf));
    download(`${caption.toLowerCase()}.csv`, csvOf(rows));
    notice(texts.exported(rows.length - 1));
  };
  /** @param {string} drawing @param {string} text @param {() => void} onclick */
  const tool = (drawing, text, onclick) =>
    h("button", { type: "button", onclick }, icon(drawing), h("span", {}, text));
  return {
    element: h(
      "div",
      { className: "list-tools" },
      said,
      tool("refresh", texts.refresh, () => void read()),
      tool("download", texts.exportCsv, write),
    ),
    /** @param {number} rows @param {boolean} isMore */
    say: (rows, isMore) => update(said, (isMore ? texts.newestRows : texts.rowCount)(rows)),
  };
}

/** A cell in a file: times as the server gives them. @param {HTMLTableCellElement} cell */
function textOf(cell) {
  const items = [...cell.querySelectorAll("li")].map((item) => item.textContent ?? "");
  const time = cell.querySelector("time");
  return items.length > 0 ? items.join("; ") : (time?.dateTime ?? cell.textContent ?? "");
}
