/** A list of any length in a table: only the rows in view are in the page, the rest is loaded
 * from the server while scrolling. */

import { fill, h } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";

const ROW_PX = 40;
const PAGE = 200;
const EXTRA_ROWS = 5;
/** What stands above and below a list at least, and the least height of a list. */
const FRAME_PX = 200;
const LEAST_PX = 400;

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: T) => Node | string | null | undefined} cell
 * @property {string} [width] a CSS width
 * @property {boolean} [isOptional] hidden on narrow screens
 */

/**
 * @template T
 * @typedef {object} Options
 * @property {string} caption
 * @property {Column<T>[]} columns
 * @property {(offset: number, limit: number, signal: AbortSignal) =>
 *   Promise<{rows: T[], total: number, isMore?: boolean}>} load `isMore`: the total is not known
 * @property {(row: T) => string} [href] where a row leads; the first cell becomes a link
 */

/**
 * A row of the page. Its element is used for another row of the list when it leaves the view.
 *
 * @template T
 * @typedef {{index: number, row: T | undefined, isFilled: boolean, element: HTMLTableRowElement}} Line
 */

/** @template T */
export class DataList extends HTMLElement {
  /** @type {Options<T> | null} */
  #options = null;
  /** @type {Map<number, T[]>} */
  #pages = new Map();
  /** @type {Set<number>} */
  #loading = new Set();
  #total = 0;
  #active = 0;
  #controller = new AbortController();
  /** @type {Map<number, Line<T>>} the rows in the page by their position in the list */
  #lines = new Map();
  #isWaiting = false;
  #above = spacer();
  #below = spacer();
  #body = h("tbody", {}, this.#above, this.#below);
  #scroller = h("div", { className: "scroller", tabIndex: 0, role: "region" });
  #status = h("p", { className: "count", role: "status" });

  /** @param {Options<T>} options */
  configure(options) {
    this.#options = options;
    const head = h(
      "tr",
      {},
      ...options.columns.map((column) => {
        const cell = h("th", { scope: "col" }, column.title);
        if (column.isOptional) cell.classList.add("optional");
        if (column.width) cell.style.width = column.width;
        return cell;
      }),
    );
    const table = h("table", {}, h("caption", {}, options.caption), h("thead", {}, head));
    table.append(this.#body);
    this.#scroller.setAttribute("aria-label", options.caption);
    fill(this.#scroller, table);
    this.#scroller.addEventListener("scroll", () => this.#drawSoon(), { passive: true });
    this.#scroller.addEventListener("keydown", (event) => this.#key(event));
    fill(this, this.#status, this.#scroller);
    this.#table = table;
    return this.reload();
  }

  /** @type {HTMLTableElement | null} */
  #table = null;

  disconnectedCallback() {
    this.#controller.abort();
  }

  /** Load the list anew from its first row. */
  async reload() {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#pages.clear();
    this.#loading.clear();
    for (const { element } of this.#lines.values()) element.remove();
    this.#lines.clear();
    this.#total = 0;
    this.#active = 0;
    this.#scroller.scrollTop = 0;
    this.#status.textContent = texts.loading;
    await this.#load(0);
  }

  /** Load the rows in view again, without moving them. */
  async refresh() {
    const first = Math.floor(this.#scroller.scrollTop / ROW_PX / PAGE);
    for (const page of [...this.#pages.keys()]) {
      if (page !== first) this.#pages.delete(page);
    }
    await this.#load(first, true);
  }

  /** @param {number} page @param {boolean} [again] */
  async #load(page, again = false) {
    const options = this.#options;
    if (options === null || this.#loading.has(page)) return;
    if (this.#pages.has(page) && !again) return;
    const { signal } = this.#controller;
    this.#loading.add(page);
    try {
      const { rows, total, isMore = false } = await options.load(page * PAGE, PAGE, signal);
      if (signal.aborted) return;
      this.#pages.set(page, rows);
      this.#total = isMore ? total + PAGE : total;
      const count = total === 0 ? texts.noRows : isMore ? texts.moreThan(total) : texts.rowCount(total);
      if (this.#status.textContent !== count) this.#status.textContent = count;
      this.#table?.setAttribute("aria-rowcount", String(total + 1));
      this.#draw();
    } catch (error) {
      if (!signal.aborted) fill(this.#status, errorBox(error));
    } finally {
      this.#loading.delete(page);
    }
  }

  /** @param {number} index @returns {T | undefined} */
  #row(index) {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  #drawSoon() {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#draw();
    });
  }

  #draw() {
    const options = this.#options;
    if (options === null) return;
    const top = Math.max(0, Math.floor(this.#scroller.scrollTop / ROW_PX) - EXTRA_ROWS);
    const height = Math.max(innerHeight - FRAME_PX, LEAST_PX);
    const bottom = Math.min(this.#total, top + Math.ceil(height / ROW_PX) + 2 * EXTRA_ROWS);
    const isFocused = this.#body.contains(document.activeElement);
    const lines = this.#lines;
    const unused = [...lines.values()].filter(({ index }) => index < top || index >= bottom);
    for (const { index } of unused) lines.delete(index);
    // Upwards from the first row that stays, then downwards from it: no row that stays is moved.
    const kept = [...lines.keys()].reduce((one, other) => Math.min(one, other), bottom);
    for (let index = kept - 1; index >= top; index -= 1) {
      const line = unused.pop() ?? this.#emptyLine(options);
      (lines.get(index + 1)?.element ?? this.#below).before(line.element);
      line.index = index;
      lines.set(index, line);
    }
    for (let index = kept; index < bottom; index += 1) {
      if (lines.has(index)) continue;
      const line = unused.shift() ?? this.#emptyLine(options);
      (lines.get(index - 1)?.element ?? this.#above).after(line.element);
      line.index = index;
      line.isFilled = false;
      lines.set(index, line);
    }
    for (const { element } of unused) element.remove();
    for (const line of lines.values()) this.#fill(options, line);
    stretch(this.#above, top * ROW_PX);
    stretch(this.#below, (this.#total - bottom) * ROW_PX);
    if (!isFocused) return;
    // The keys keep working when the row with the focus is scrolled out of view.
    if (lines.has(this.#active)) this.#focus(this.#active, false);
    else this.#scroller.focus({ preventScroll: true });
  }

  /** @param {Options<T>} options @returns {Line<T>} */
  #emptyLine(options) {
    const cells = options.columns.map((column, position) => {
      const cell = h(position === 0 ? "th" : "td", position === 0 ? { scope: "row" } : {});
      if (column.isOptional) cell.classList.add("optional");
      return cell;
    });
    return { index: 0, row: undefined, isFilled: false, element: h("tr", {}, ...cells) };
  }

  /** @param {Options<T>} options @param {Line<T>} line */
  #fill(options, line) {
    const { index, element } = line;
    const row = this.#row(index);
    if (row === undefined) void this.#load(Math.floor(index / PAGE));
    if (line.isFilled && line.row === row && element.dataset.index === String(index)) return;
    line.row = row;
    line.isFilled = true;
    element.setAttribute("aria-rowindex", String(index + 2));
    element.dataset.index = String(index);
    options.columns.forEach((column, position) => {
      const cell = element.cells[position];
      const content = row === undefined ? (position === 0 ? "…" : "") : column.cell(row);
      if (position === 0 && row !== undefined && options.href) {
        const link = cell.firstElementChild instanceof HTMLAnchorElement ? cell.firstElementChild : h("a");
        link.href = options.href(row);
        link.tabIndex = index === this.#active ? 0 : -1;
        put(link, content ?? "-");
        if (link.parentNode !== cell) fill(cell, link);
      } else {
        put(cell, content ?? "");
        if (position === 0 && content instanceof HTMLElement) {
          content.tabIndex = index === this.#active ? 0 : -1;
        }
      }
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const visible = Math.max(1, Math.floor(this.#scroller.clientHeight / ROW_PX) - 2);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: visible, PageUp: -visible };
    let next = this.#active;
    if (event.key in steps) next += steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = this.#total - 1;
    else return;
    event.preventDefault();
    this.#focus(Math.min(Math.max(next, 0), Math.max(this.#total - 1, 0)), true);
  }

  /** @param {number} index @param {boolean} scroll */
  #focus(index, scroll) {
    const before = this.#lines.get(this.#active)?.element.querySelector("a, button");
    if (before instanceof HTMLElement) before.tabIndex = -1;
    this.#active = index;
    if (scroll) {
      const top = index * ROW_PX;
      const { scrollTop, clientHeight } = this.#scroller;
      if (top < scrollTop + ROW_PX) this.#scroller.scrollTop = Math.max(0, top - ROW_PX);
      else if (top + 2 * ROW_PX > scrollTop + clientHeight) {
        this.#scroller.scrollTop = top + 2 * ROW_PX - clientHeight;
      }
      this.#draw();
    }
    const target = this.#lines.get(index)?.element.querySelector("a, button");
    if (target instanceof HTMLElement) {
      target.tabIndex = 0;
      target.focus({ preventScroll: true });
    }
  }
}

/** Put content into an element, and only change the text where there is one.
 * @param {HTMLElement} element @param {Node | string} content */
function put(element, content) {
  const before = element.firstChild;
  if (content instanceof Node) fill(element, content);
  else if (before instanceof Text && element.childNodes.length === 1) before.data = content;
  else element.textContent = content;
}

function spacer() {
  return h("tr", { className: "spacer", "aria-hidden": "true" }, h("td"));
}

/** @param {HTMLTableRowElement} line @param {number} height */
function stretch(line, height) {
  line.cells[0].style.height = `${height}px`;
}

customElements.define("data-list", DataList);

/**
 * @template T
 * @returns {DataList<T>}
 */
export function dataList() {
  return /** @type {DataList<T>} */ (document.createElement("data-list"));
}
