/** A list of any length in a table: only the rows in view are in the page, the rest is loaded
 * from the server while scrolling. */

import { fill, h } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";

const ROW_PX = 40;
const PAGE = 200;
const EXTRA_ROWS = 12;

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
 *   Promise<{rows: T[], total: number}>} load
 * @property {(row: T) => string} [href] where a row leads; the first cell becomes a link
 * @property {string} [empty] what is said of an empty list
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
  #body = h("tbody");
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
    this.#scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
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
      const { rows, total } = await options.load(page * PAGE, PAGE, signal);
      if (signal.aborted) return;
      this.#pages.set(page, rows);
      this.#total = total;
      this.#status.textContent =
        total === 0 ? (options.empty ?? texts.noRows) : texts.rowCount(total);
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

  #draw() {
    const options = this.#options;
    if (options === null) return;
    const height = this.#scroller.clientHeight || 600;
    const top = Math.max(0, Math.floor(this.#scroller.scrollTop / ROW_PX) - EXTRA_ROWS);
    const bottom = Math.min(this.#total, top + Math.ceil(height / ROW_PX) + 2 * EXTRA_ROWS);
    const rows = [];
    for (let index = top; index < bottom; index += 1) {
      const row = this.#row(index);
      if (row === undefined) void this.#load(Math.floor(index / PAGE));
      rows.push(this.#line(options, index, row));
    }
    const focused = this.#body.contains(document.activeElement);
    fill(
      this.#body,
      spacer(top * ROW_PX, options.columns.length),
      ...rows,
      spacer((this.#total - bottom) * ROW_PX, options.columns.length),
    );
    if (focused) this.#focus(this.#active, false);
  }

  /**
   * @param {Options<T>} options
   * @param {number} index
   * @param {T | undefined} row
   */
  #line(options, index, row) {
    const cells = options.columns.map((column, position) => {
      const content = row === undefined ? (position === 0 ? "…" : "") : column.cell(row);
      const link =
        position === 0 && row !== undefined && options.href
          ? h(
              "a",
              { href: options.href(row), tabIndex: index === this.#active ? 0 : -1 },
              content ?? "-",
            )
          : content;
      const cell = h(position === 0 ? "th" : "td", position === 0 ? { scope: "row" } : {}, link);
      if (column.isOptional) cell.classList.add("optional");
      return cell;
    });
    return h("tr", { "aria-rowindex": index + 2, "data-index": index }, ...cells);
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
    const line = this.#body.querySelector(`[data-index="${index}"]`);
    const target = line?.querySelector("a, button");
    if (target instanceof HTMLElement) {
      target.tabIndex = 0;
      target.focus({ preventScroll: true });
    }
  }
}

/** @param {number} height @param {number} columns */
function spacer(height, columns) {
  const cell = h("td", { colSpan: columns });
  const line = h("tr", { className: "spacer", "aria-hidden": "true" }, cell);
  cell.style.height = `${height}px`;
  return line;
}

customElements.define("data-list", DataList);

/**
 * @template T
 * @returns {DataList<T>}
 */
export function dataList() {
  return /** @type {DataList<T>} */ (document.createElement("data-list"));
}
