/** What can be done with a table whose newest rows are in the page: read it again, export all of it. */

import { h, update } from "../dom.js";
import { icon } from "../icons.js";
import { texts } from "../texts.js";
import { csvOf, download } from "./csv.js";
import { messageOf } from "./error-box.js";
import { notice } from "./notice.js";

/** Rows that are read at a time for a file. */
export const EXPORT_PAGE = 1000;

/**
 * @param {string} caption
 * @param {() => AsyncIterable<HTMLElement>} pages all rows that match the filters, as tables
 * @param {() => Promise<void>} refresh
 */
export function tableTools(caption, pages, refresh) {
  const said = h("p", { className: "count", role: "status" });
  const read = async () => {
    await refresh();
    notice(texts.refreshed(caption));
  };
  const write = async () => {
    /** @type {string[][]} */
    const rows = [];
    exporting.disabled = true;
    try {
      for await (const page of pages()) {
        const [titles, ...others] = [...page.querySelectorAll("tr")].map((row) => [...row.cells].map(textOf));
        if (titles) rows.push(...(rows.length > 0 ? [] : [titles]), ...others);
      }
      download(`${caption.toLowerCase()}.csv`, csvOf(rows));
      notice(texts.exported(Math.max(0, rows.length - 1)));
    } catch (error) {
      notice(messageOf(error), "failed");
    } finally {
      exporting.disabled = false;
    }
  };
  /** @param {string} drawing @param {string} text @param {() => void} onclick */
  const tool = (drawing, text, onclick) =>
    h("button", { type: "button", onclick }, icon(drawing), h("span", {}, text));
  const exporting = tool("download", texts.exportCsv, () => void write());
  return {
    element: h(
      "div",
      { className: "list-tools" },
      said,
      tool("refresh", texts.refresh, () => void read()),
      exporting,
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
