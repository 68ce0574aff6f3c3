/** What can be done with a whole list: refresh, choose columns, export, select all. */

import { h, uniqueId } from "../dom.js";
import { icon } from "../icons.js";
import { store } from "../store.js";
import { exported } from "../tables.js";
import { texts } from "../texts.js";
import { csvOf, download } from "./csv.js";
import { messageOf } from "./error-box.js";
import { menu } from "./menu.js";
import { notice } from "./notice.js";

const PAGE = 1000;
const WIDE = matchMedia("(min-width: 94.01rem)");

/** @typedef {import("./data-list.js").DataList<any>} DataList */

/** @param {DataList} list */
export function listTools(list) {
  const { name = "", caption = "", columns = [], key } = list.options ?? {};
  const storeKey = `columns ${name}`;
  /** @type {string[] | null} */
  let chosen = name ? store.read(storeKey, null) : null;
  const shown = () =>
    columns.filter(({ title, isHidden, isWide }, place) =>
      place === 0 ? true : chosen ? chosen.includes(title) : !isHidden && (!isWide || WIDE.matches),
    );

  /** @param {string} title @param {boolean} isShown */
  function choose(title, isShown) {
    const titles = new Set(shown().map((column) => column.title));
    titles[isShown ? "add" : "delete"](title);
    chosen = columns.map((column) => column.title).filter((one) => titles.has(one));
    store.write(storeKey, chosen);
    list.columns = shown();
    list.drawHead();
  }

  const choices = () =>
    columns.slice(1).map(({ title }) => {
      const id = uniqueId("column");
      const isShown = shown().some((column) => column.title === title);
      const onchange = (/** @type {Event} */ event) =>
        choose(title, /** @type {HTMLInputElement} */ (event.target).checked);
      return h(
        "div",
        { className: "choice" },
        h("input", { id, type: "checkbox", checked: isShown, onchange }),
        h("label", { htmlFor: id }, title),
      );
    });

  const refresh = async () => {
    await list.refresh();
    notice(texts.refreshed(caption));
  };
  const write = async () => {
    try {
      const rows = await every(list);
      const table = exported(list.columns, list.options?.table ?? [], rows, textOf);
      download(`${caption.toLowerCase().replaceAll(" ", "-")}.csv`, csvOf(table));
      notice(texts.exported(rows.length));
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  };
  const selectAll = async () => {
    try {
      const rows = await every(list);
      if (key) list.select(rows.map(key), true);
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  };
  /** @param {string} drawing @param {string} text @param {() => void} onclick */
  const tool = (drawing, text, onclick) =>
    h("button", { type: "button", onclick }, icon(drawing), h("span", {}, text));
  return {
    columns: shown,
    selection: h("div", { className: "selection", hidden: true, role: "status" }),
    elements: [
      key ? tool("good", texts.selectAll, () => void selectAll()) : h("span"),
      tool("refresh", texts.refresh, () => void refresh()),
      columns.length > 2 && name ? menu(texts.columns, "columns", choices) : h("span"),
      tool("download", texts.exportCsv, () => void write()),
    ],
  };
}

/** Every row of the list, in its order. @param {DataList} list @returns {Promise<any[]>} */
async function every(list) {
  const { signal } = new AbortController();
  /** @type {any[]} */
  const rows = [];
  for (;;) {
    const page = await list.options?.load(rows.length, PAGE, signal, list.sort);
    rows.push(...(page?.rows ?? []));
    if ((page?.rows.length ?? 0) < PAGE) return rows;
  }
}

/** @param {import("./data-list.js").Column<any>} column @param {any} row */
function textOf({ cell, text }, row) {
  if (text) return text(row) ?? "";
  const content = cell(row);
  if (!(content instanceof Element)) return content instanceof Node ? (content.textContent ?? "") : (content ?? "");
  return content.getAttribute("datetime") ?? content.textContent ?? "";
}
