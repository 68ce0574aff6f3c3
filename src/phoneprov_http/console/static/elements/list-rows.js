/** The headings and the rows of a list. */

import { fill, h, update } from "../dom.js";
import { icon } from "../icons.js";
import { texts } from "../texts.js";

/**
 * A row of the page. Its element is used for another row of the list when it leaves the view.
 *
 * @template T
 * @typedef {{index: number, row: T | undefined, isFilled: boolean, element: HTMLTableRowElement}} Line
 */

/** @typedef {import("./data-list.js").DataList<any>} DataList */
/** @typedef {import("./data-list.js").Column<any>} Column */

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
        list.options?.sorted?.(next);
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
  box.setAttribute("aria-label", texts.select(key));
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
