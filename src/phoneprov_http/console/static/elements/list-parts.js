/** The rows of a list, its tools, and lists that are sorted here. */

import { api, withQuery } from "../api.js";
import { fill, h, icon, uniqueId, update } from "../dom.js";
import { store } from "../navigation.js";
import { recordsOf } from "../tables.js";
import { texts } from "../texts.js";
import { menu, messageOf, notice } from "./parts.js";

/** @typedef {import("./data-list.js").DataList<any>} DataList */
/** @typedef {import("./data-list.js").Column<any>} Column */

// The headings and the rows of a list.

/**
 * A row of the page. Its element is used for another row of the list when it leaves the view.
 *
 * @template T
 * @typedef {{index: number, row: T | undefined, isFilled: boolean, element: HTMLTableRowElement}} Line
 */

/** The cell of a row that leads on. @param {Element | undefined} element */
export function cellsOf(element) {
  return element?.closest("tr")?.querySelector("th") ?? null;
}

/** @param {DataList} list */
export function heading(list) {
  const cells = list.columns.map((column) => {
    const cell = h("th", { scope: "col" }, column.sort ? sortButton(list, column) : column.title);
    if (column.isOptional) cell.classList.add("optional");
    if (column.width) cell.style.width = column.width;
    const [isUp, isDown] = [list.sort === column.sort, list.sort === `-${column.sort}`];
    if (column.sort && (isUp || isDown)) {
      cell.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    }
    return cell;
  });
  const select = list.options?.key && h("td", { className: "select" });
  return h("thead", {}, h("tr", {}, select, ...cells));
}

/** @param {DataList} list @param {Column} column */
function sortButton(list, { title, sort }) {
  const [isUp, isDown] = [list.sort === sort, list.sort === `-${sort}`];
  const next = isUp ? `-${sort}` : isDown ? "" : (sort ?? "");
  return h(
    "button",
    {
      type: "button",
      className: "plain sort",
      onclick: () => {
        list.sort = next;
        list.sorted();
        list.drawHead();
        void list.reload();
        /** @type {HTMLElement | undefined} */ ([...list.querySelectorAll("th button")].find(
          (one) => one.textContent === title,
        ))?.focus();
      },
    },
    title,
    isUp ? icon("up") : isDown && icon("down"),
  );
}

/** @param {DataList} list @returns {Line<any>} */
export function emptyLine(list) {
  const cells = list.columns.map((column, position) => {
    const cell = h(position === 0 ? "th" : "td", position === 0 ? { scope: "row" } : {});
    if (column.isOptional) cell.classList.add("optional");
    return cell;
  });
  const select = list.options?.key && h("td", { className: "select" });
  return { index: 0, row: undefined, isFilled: false, element: h("tr", {}, select, ...cells) };
}

/**
 * Show a row; what stays the same is not replaced, so that focus and selection stay.
 *
 * @param {DataList} list
 * @param {Line<any>} line
 * @param {any} row undefined while it is loaded
 * @param {boolean} isActive whether Tab leads to it
 */
export function fillLine(list, line, row, isActive) {
  const { index, element } = line;
  const { options } = list;
  if (options === null) return;
  if (line.isFilled && line.row === row && element.dataset.index === String(index)) return;
  line.row = row;
  line.isFilled = true;
  element.setAttribute("aria-rowindex", String(index + 2));
  element.dataset.index = String(index);
  const cells = [...element.cells];
  if (options.key) checkbox(list, /** @type {HTMLElement} */ (cells.shift()), row, element);
  list.columns.forEach((column, position) => {
    const cell = cells[position];
    const content = row === undefined ? (position === 0 ? "…" : "") : column.cell(row);
    if (position === 0 && row !== undefined && options.href) {
      const link = cell.firstElementChild instanceof HTMLAnchorElement ? cell.firstElementChild : h("a");
      link.href = options.href(row);
      link.tabIndex = isActive ? 0 : -1;
      put(link, content ?? "-");
      if (link.parentNode !== cell) fill(cell, link);
      return;
    }
    put(cell, content ?? "");
    const first = position === 0 && cell.querySelector("button");
    if (first) first.tabIndex = isActive ? 0 : -1;
  });
}

/** @param {DataList} list @param {HTMLElement} cell @param {any} row @param {HTMLElement} element */
function checkbox(list, cell, row, element) {
  if (row === undefined || !list.options?.key) return;
  const key = list.options.key(row);
  const isSelected = list.selected.has(key);
  element.classList.toggle("selected", isSelected);
  const box = cell.firstElementChild instanceof HTMLInputElement ? cell.firstElementChild : h("input");
  box.type = "checkbox";
  box.tabIndex = -1;
  box.checked = isSelected;
  box.setAttribute("aria-label", texts.select(list.options.named?.(row) ?? key));
  box.onchange = () => list.select([key], box.checked);
  if (box.parentNode !== cell) fill(cell, box);
}

/** Put content into an element, and only change the text where there is one.
 * @param {HTMLElement} element @param {Node | string} content */
function put(element, content) {
  const before = element.firstChild;
  if (content instanceof Node) update(element, content);
  else if (before instanceof Text && element.childNodes.length === 1) before.data = content;
  else element.textContent = content;
}

// What can be done with a whole list: refresh, choose columns, export, select all.

const PAGE = 1000;
const WIDE = matchMedia("(min-width: 94.01rem)");

/** @param {string} drawing @param {string} text @param {() => void} onclick */
const tool = (drawing, text, onclick) => h("button", { type: "button", onclick }, icon(drawing), h("span", {}, text));

/**
 * The buttons that read a list again, and write all of it into a file, which the server makes.
 *
 * @param {string} caption @param {() => Promise<void>} again
 * @param {() => string | Promise<string>} file the list of the API with the filters
 */
export function readAndWrite(caption, again, file) {
  const refresh = tool("refresh", texts.refresh, async () => {
    await again();
    notice(texts.refreshed(caption));
  });
  const write = tool("download", texts.exportCsv, async () => {
    write.disabled = true;
    try {
      const text = await api.file(await file());
      const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
      h("a", { href: url, download: `${caption.toLowerCase().replaceAll(" ", "-")}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      notice(texts.exported(recordsOf(text).length - 1));
    } catch (error) {
      notice(messageOf(error), "failed");
    } finally {
      write.disabled = false;
    }
  });
  return { refresh, write };
}

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

  const selectAll = async () => {
    try {
      const rows = await every(list);
      if (key) list.select(rows.map(key), true);
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  };
  const { refresh, write } = readAndWrite(caption, () => list.refresh(), () => fileOf(list));
  return {
    columns: shown,
    selection: h("div", { className: "selection", hidden: true, role: "status" }),
    elements: [
      key ? tool("good", texts.selectAll, () => void selectAll()) : h("span"),
      refresh,
      columns.length > 2 && name ? menu(texts.columns, "columns", choices) : h("span"),
      write,
    ],
  };
}

/** Every row of the list, in its order. @param {DataList} list @returns {Promise<any[]>} */
async function every(list) {
  const { signal } = new AbortController();
  /** @type {any[]} */
  const rows = [];
  for (;;) {
    const page = await list.load(rows.length, PAGE, signal, list.sort);
    rows.push(...page.rows);
    if (page.rows.length < PAGE) return rows;
  }
}

/** @param {DataList} list */
async function fileOf({ options, sort }) {
  const { path, file = path, load, isSortedHere } = /** @type {NonNullable<DataList["options"]>} */ (options);
  return withQuery(await file(), load || isSortedHere ? {} : { sort });
}

/** @template T @typedef {NonNullable<import("./data-list.js").Options<T>["load"]>} Load */

/** How the rows of a list are loaded.
 * @template T @param {import("./data-list.js").Options<T>} options @returns {Load<T>} */
export function loading({ path, rows = (records) => records, columns, isSortedHere, load: own }) {
  /** @type {Load<T>} */
  const load = async (offset, limit, signal, sort) => {
    const { data, metadata } = await api.get(withQuery(await path(), { offset, limit, sort }), signal);
    const { total = offset + data.length } = metadata;
    return { rows: await rows(data, signal), total, isMore: metadata.total === undefined && data.length === limit };
  };
  return isSortedHere ? sortedHere(columns, own ?? load) : (own ?? load);
}

// Short lists that the server gives in one order only are sorted here.

const natural = new Intl.Collator(undefined, { numeric: true });

/**
 * Loading of a list whose rows are all fetched when one of the columns is to be in order.
 *
 * @template T
 * @param {import("./data-list.js").Column<T>[]} columns
 * @param {Load<T>} load
 * @returns {Load<T>}
 */
function sortedHere(columns, load) {
  return async (offset, limit, signal, sort) => {
    const column = columns.find((one) => one.sort && sort.replace(/^-/, "") === one.sort);
    if (!column) return load(offset, limit, signal, "");
    /** @type {T[]} */
    const rows = [];
    for (;;) {
      const page = await load(rows.length, PAGE, signal, "");
      rows.push(...page.rows);
      if (page.rows.length === 0 || rows.length >= page.total) break;
    }
    const direction = sort.startsWith("-") ? -1 : 1;
    const named = rows.map((row) => ({ row, text: sortKeyOf(column, row) }));
    named.sort((one, other) => direction * natural.compare(one.text, other.text));
    return { rows: named.slice(offset, offset + limit).map(({ row }) => row), total: rows.length };
  };
}

/** @template T @param {import("./data-list.js").Column<T>} column @param {T} row */
function sortKeyOf(column, row) {
  const content = (column.text ?? column.cell)(row);
  return content instanceof Node ? (content.textContent ?? "") : (content ?? "");
}
