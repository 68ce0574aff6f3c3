/** A list of any length in a table: only the rows in view are in the page, the rest is loaded
 * from the server while scrolling. */

import { fill, h, update } from "../dom.js";
import { keep, kept } from "../navigation.js";
import { texts } from "../texts.js";
import { cellsOf, emptyLine, fillLine, heading, listTools, loading } from "./list-parts.js";
import { errorBox } from "./parts.js";

const PAGE = 200;
const EXTRA_ROWS = 8;
const ROW_PX = 28;
/** On a narrow screen a row is a card with a line for each cell. */
const CARD_PX = 14;
const CARD_LINE_PX = 18.2;
const NARROW = matchMedia("(max-width: 40rem)");

/**
 * `text` is the cell in an order that is made here; `sort` the name that the server sorts by; `isHidden`
 * a column that the operator has to choose.
 *
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: T) => Node | string | null | undefined} cell
 * @property {(row: T) => string | null | undefined} [text]
 * @property {string} [sort]
 * @property {string} [width] a CSS width
 * @property {boolean} [isOptional] not on narrow screens
 * @property {boolean} [isWide] at first on wide screens only
 * @property {boolean} [isHidden]
 */

/**
 * @template T
 * @typedef {object} Options
 * @property {string} caption
 * @property {string} [name] under which the browser keeps the chosen columns
 * @property {Column<T>[]} columns
 * @property {() => string | Promise<string>} path the list of the API, with its filters
 * @property {(records: any[], signal: AbortSignal) => Promise<T[]> | T[]} [rows] what is shown of its records
 * @property {boolean} [isSortedHere] the API has one order only
 * @property {() => string} [file] the list that is exported, if it is another one
 * @property {(offset: number, limit: number, signal: AbortSignal, sort: string) =>
 *   Promise<{rows: T[], total: number, isMore?: boolean}>} [load] instead of a page of the path. `isMore`: the
 *   total is not known
 * @property {(row: T) => string} [href] where a row leads; the first cell becomes a link
 * @property {(row: T) => string} [key] what a selected row is known by
 * @property {(row: T) => string} [named] what its box is called, if not by its key
 * @property {(keys: string[]) => Node[]} [actions] what can be done with selected rows
 * @property {() => Node | string} [empty] what is shown without rows: the next step
 */

/** @template T */
export class DataList extends HTMLElement {
  /** @type {Options<T> | null} */
  options = null;
  /** @type {Column<T>[]} the columns that are shown */
  columns = [];
  sort = "";
  /** After a change of the order. */
  sorted = () => {};
  /** @type {import("./list-parts.js").Load<T>} */
  load = async () => ({ rows: [], total: 0 });
  /** @type {Set<string>} */
  selected = new Set();
  /** @type {Map<number, T[]>} */
  #pages = new Map();
  /** @type {Set<number>} */
  #loading = new Set();
  total = 0;
  #active = 0;
  #controller = new AbortController();
  /** @type {Map<number, import("./list-parts.js").Line<T>>} the rows in the page by their place */
  #lines = new Map();
  #isWaiting = false;
  #above = spacer();
  #below = spacer();
  #body = h("tbody", {}, this.#above, this.#below);
  #scroller = h("div", { className: "scroller", tabIndex: 0, role: "region" });
  #table = h("table");
  #status = h("p", { className: "count", role: "status" });
  #empty = h("div", { className: "empty", hidden: true });
  #tools = h("div", { className: "list-tools" });

  /** @param {Options<T>} options */
  configure(options) {
    this.options = options;
    this.load = loading(options);
    this.#scroller.setAttribute("aria-label", options.caption);
    fill(this.#scroller, this.#table);
    this.#scroller.addEventListener("scroll", () => this.#drawSoon(), { passive: true });
    this.#scroller.addEventListener("keydown", (event) => this.#key(event));
    this.#body.addEventListener("click", (event) => this.#click(event));
    NARROW.addEventListener("change", this.#resized);
    const tools = listTools(this);
    this.#selection = tools.selection;
    // In the row of the tools, so that no row moves under the pointer when the first one is selected.
    fill(this.#tools, this.#status, this.#selection, ...tools.elements);
    this.columns = tools.columns();
    fill(this, this.#tools, this.#scroller, this.#empty);
    this.drawHead();
    return this.reload();
  }

  #selection = h("div");

  #resized = () => this.drawHead();

  disconnectedCallback() {
    this.#controller.abort();
    NARROW.removeEventListener("change", this.#resized);
  }

  get #height() {
    if (!NARROW.matches) return ROW_PX;
    return CARD_PX + CARD_LINE_PX * this.columns.filter(({ isOptional, isWide }) => !isOptional && !isWide).length;
  }

  /** Draw the headings, after a change of the columns or of the order. */
  drawHead() {
    const { options } = this;
    if (options === null) return;
    this.#clear();
    this.style.setProperty("--card", `${this.#height}px`);
    const caption = h("caption", {}, options.caption);
    fill(this.#table, caption, heading(this), this.#body);
    this.#draw();
  }

  #clear() {
    for (const { element } of this.#lines.values()) element.remove();
    this.#lines.clear();
  }

  /** Load the list anew from its first row, or from the row that the operator comes back to. */
  async reload() {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#pages.clear();
    this.#loading.clear();
    this.#clear();
    this.total = 0;
    this.#active = 0;
    this.#scroller.scrollTop = 0;
    this.#status.textContent = texts.loading;
    await this.#load(0);
    await this.#back();
  }

  async #back() {
    const before = kept("list");
    if (before?.hash !== location.hash || this.total === 0) return;
    keep("list", null);
    this.#active = Math.min(before.active, this.total - 1);
    this.#scroller.scrollTop = before.top;
    await this.#load(Math.floor(this.#active / PAGE));
    this.#draw();
    this.#focus(this.#active, true);
  }

  /** Load the rows in view again, without moving them. */
  async refresh() {
    const first = Math.floor(this.#scroller.scrollTop / this.#height / PAGE);
    for (const page of [...this.#pages.keys()]) {
      if (page !== first) this.#pages.delete(page);
    }
    await this.#load(first, true);
  }

  /** @param {number} page @param {boolean} [again] */
  async #load(page, again = false) {
    const { options } = this;
    if (options === null || this.#loading.has(page)) return;
    if (this.#pages.has(page) && !again) return;
    const { signal } = this.#controller;
    this.#loading.add(page);
    try {
      const { rows, total, isMore = false } = await this.load(page * PAGE, PAGE, signal, this.sort);
      if (signal.aborted) return;
      this.#pages.set(page, rows);
      this.total = isMore ? total + PAGE : total;
      const count = isMore ? texts.moreThan(total) : texts.rowCount(total);
      if (this.#status.textContent !== count) this.#status.textContent = count;
      this.#scroller.hidden = total === 0;
      this.#empty.hidden = total > 0;
      if (total === 0) fill(this.#empty, options.empty?.() ?? texts.noRows);
      this.#table.setAttribute("aria-rowcount", String(total + 1));
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

  /** Draw the rows in view; rows that stay in view are not moved. */
  #draw() {
    const height = this.#height;
    const top = Math.max(0, Math.floor(this.#scroller.scrollTop / height) - EXTRA_ROWS);
    const rows = Math.ceil(Math.max(innerHeight, 400) / height) + 2 * EXTRA_ROWS;
    const bottom = Math.min(this.total, top + rows);
    const isFocused = this.#body.contains(document.activeElement);
    const lines = this.#lines;
    const unused = [...lines.values()].filter(({ index }) => index < top || index >= bottom);
    for (const { index } of unused) lines.delete(index);
    // Upwards from the first row that stays, then downwards from it: no row that stays is moved.
    const kept = [...lines.keys()].reduce((one, other) => Math.min(one, other), bottom);
    for (let index = kept - 1; index >= top; index -= 1) {
      const line = unused.pop() ?? emptyLine(this);
      (lines.get(index + 1)?.element ?? this.#below).before(line.element);
      line.index = index;
      lines.set(index, line);
    }
    for (let index = kept; index < bottom; index += 1) {
      if (lines.has(index)) continue;
      const line = unused.shift() ?? emptyLine(this);
      (lines.get(index - 1)?.element ?? this.#above).after(line.element);
      Object.assign(line, { index, isFilled: false });
      lines.set(index, line);
    }
    for (const { element } of unused) element.remove();
    for (const line of lines.values()) {
      const row = this.#row(line.index);
      if (row === undefined) void this.#load(Math.floor(line.index / PAGE));
      fillLine(this, line, row, line.index === this.#active);
    }
    stretch(this.#above, top * height);
    stretch(this.#below, (this.total - bottom) * height);
    if (!isFocused) return;
    // The keys keep working when the row with the focus is scrolled out of view.
    if (!lines.has(this.#active)) this.#scroller.focus({ preventScroll: true });
    else if (!this.#body.contains(document.activeElement)) this.#focus(this.#active, false);
  }

  /** Draw the selection. */
  drawSelection() {
    for (const line of this.#lines.values()) line.isFilled = false;
    this.#draw();
    const { options } = this;
    const keys = [...this.selected];
    this.#selection.hidden = keys.length === 0;
    update(
      this.#selection,
      h("span", {}, texts.selected(keys.length)),
      ...(keys.length > 0 ? (options?.actions?.(keys) ?? []) : []),
      h("button", { type: "button", className: "plain", onclick: () => this.select([], false) }, texts.clear),
    );
  }

  /** @param {string[]} keys @param {boolean} isSelected */
  select(keys, isSelected) {
    if (keys.length === 0) this.selected.clear();
    for (const key of keys) this.selected[isSelected ? "add" : "delete"](key);
    this.drawSelection();
  }

  /** A click anywhere in a row opens it. @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const line = target.closest("tr")?.dataset.index;
    if (line === undefined) return;
    const place = { hash: location.hash, top: this.#scroller.scrollTop, active: Number(line) };
    if (target.closest("a")) keep("list", place);
    if (target.closest("a, button, input, label") || getSelection()?.toString()) return;
    const link = cellsOf(target)?.querySelector("a, button");
    if (!(link instanceof HTMLElement)) return;
    if (link instanceof HTMLAnchorElement && (event.ctrlKey || event.metaKey)) window.open(link.href);
    else link.click();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const visible = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#height) - 2);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: visible, PageUp: -visible };
    let next = this.#active;
    if (event.key in steps) next += steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = this.total - 1;
    else if (event.key === " " && this.options?.key && !(event.target instanceof HTMLInputElement)) {
      const row = this.#row(this.#active);
      const key = row === undefined ? null : this.options.key(row);
      event.preventDefault();
      if (key !== null) this.select([key], !this.selected.has(key));
      return;
    } else return;
    event.preventDefault();
    this.#focus(Math.min(Math.max(next, 0), Math.max(this.total - 1, 0)), true);
  }

  /** @param {number} index @param {boolean} scroll */
  #focus(index, scroll) {
    const before = cellsOf(this.#lines.get(this.#active)?.element)?.querySelector("a, button");
    if (before instanceof HTMLElement) before.tabIndex = -1;
    this.#active = index;
    if (scroll) {
      const height = this.#height;
      const top = index * height;
      const { scrollTop, clientHeight } = this.#scroller;
      if (top < scrollTop + height) this.#scroller.scrollTop = Math.max(0, top - height);
      else if (top + 2 * height > scrollTop + clientHeight) {
        this.#scroller.scrollTop = top + 2 * height - clientHeight;
      }
      this.#draw();
    }
    const target = cellsOf(this.#lines.get(index)?.element)?.querySelector("a, button");
    if (target instanceof HTMLElement) {
      target.tabIndex = 0;
      target.focus({ preventScroll: true });
    }
  }
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
