/** Elements of a page, their drawings, and values as people read them. */

import { language, moment } from "./texts/frame.js";

// Building elements: the only place that turns data into nodes. Text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/** The listeners that `h` set: an element that is updated gets the new ones.
 * @type {WeakMap<Element, Record<string, any>>} */
const listeners = new WeakMap();

/**
 * Make an element. Properties that start with `on` are listeners; names with a dash are
 * attributes; everything else is set as a property where the element has one.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) {
      listen(element, name, value);
    } else if (name in element && !name.includes("-")) {
      /** @type {any} */ (element)[name] = value;
    } else if (value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * Make an element of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Child | Child[])} children
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...nodes(children));
  return element;
}

/** The elements on which a click is still worked on.
 * @type {WeakSet<Element>} */
const busy = new WeakSet();

/** Another click is ignored until what the first one began has ended.
 * @param {Element} element @param {() => unknown} work */
async function once(element, work) {
  if (busy.has(element)) return;
  busy.add(element);
  try {
    await work();
  } finally {
    busy.delete(element);
  }
}

/** @param {Element} element @param {string} name @param {any} listener */
function listen(element, name, listener) {
  const own = listeners.get(element) ?? {};
  if (!(name in own)) {
    const call = (/** @type {Event} */ event) => own[name].call(element, event);
    element.addEventListener(name.slice(2), name === "onclick" ? (event) => once(element, () => call(event)) : call);
  }
  own[name] = listener;
  listeners.set(element, own);
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Replace what an element holds.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * Change what an element holds into these children. Elements that stay the same are kept, with
 * their focus, selection and scroll position.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function update(element, ...children) {
  const wanted = document.createElement("div");
  wanted.append(...nodes(children));
  become(element, wanted);
}

/** @param {Node} old @param {Node} wanted */
function become(old, wanted) {
  const fresh = [...wanted.childNodes];
  for (const [place, node] of fresh.entries()) {
    const before = old.childNodes[place];
    if (before === undefined) old.appendChild(node);
    else if (before.nodeName !== node.nodeName) before.replaceWith(node);
    else if (node instanceof Element) changed(/** @type {Element} */ (before), node);
    else if (before.nodeValue !== node.nodeValue) before.nodeValue = node.nodeValue;
  }
  while (old.childNodes.length > fresh.length) old.lastChild?.remove();
}

/** @param {Element} old @param {Element} wanted */
function changed(old, wanted) {
  if (old.isEqualNode(wanted) && !listeners.has(wanted) && !wanted.childElementCount) return;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) === value) continue;
    // The content policy forbids styles that are set as text.
    if (name === "style" && old instanceof HTMLElement) old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  for (const name of /** @type {const} */ (["disabled", "hidden", "value", "max"])) {
    if (name in wanted && old !== document.activeElement && old.tagName !== "LI") {
      /** @type {any} */ (old)[name] = /** @type {any} */ (wanted)[name];
    }
  }
  for (const [name, listener] of Object.entries(listeners.get(wanted) ?? {})) {
    listen(old, name, listener);
  }
  become(old, wanted);
}

let lastId = 0;

/**
 * An id that no other element has.
 *
 * @param {string} prefix
 */
export function uniqueId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

// Small drawings of one line width. They repeat a text beside them and are hidden from readers.

/** @type {Record<string, string>} */
const PATHS = {
  mark: "M4 3h9v10H4zM6 5.5h5M6 8h1M8.25 8h.5M10 8h1M6 10.5h1M8.25 10.5h.5M10 10.5h1M1.5 4.5v7",
  menu: "M2 4h12M2 8h12M2 12h12",
  overview: "M2 2h5v5H2zM9 2h5v3H9zM9 7h5v7H9zM2 9h5v5H2z",
  phones: "M5 2h6v12H5zM7 4h2M7.5 11.5h1",
  deployments: "M8 11V2.5M4.5 6L8 2.5 11.5 6M2.5 10.5v3h11v-3",
  desks: "M1.5 7h13M3 7v6M13 7v6M6 7V3h4v4",
  batches: "M2 3h12M2 6.3h12M2 9.6h8M2 13h5M11.5 11l2 1.5-2 1.5z",
  profiles: "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13M6 8h5M6 11h5",
  people: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.5 14c.5-3 2.5-4.2 5.5-4.2s5 1.2 5.5 4.2",
  directory: "M3.5 2h9v12h-9zM1.5 5h3M1.5 8h3M1.5 11h3M8 7.2a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM6 11c.2-1.5 1-2.2 2-2.2s1.8.7 2 2.2",
  audit: "M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4zM5.5 8l1.8 1.8L10.7 6.3",
  account: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.5 14c.5-3 2.5-4.2 5.5-4.2s5 1.2 5.5 4.2",
  good: "M3.5 8.5l3 3 6-7",
  bad: "M4 4l8 8M12 4l-8 8",
  wait: "M8 4v4l2.5 1.5M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  unknown: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 12v.2",
  book: "M8 4C6 2.7 4 2.7 2 3.5v9c2-.8 4-.8 6 .5 2-1.3 4-1.3 6-.5v-9c-2-.8-4-.8-6 .5zM8 4v9",
  none: "M4 8h8",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  filter: "M2 3h12M4.5 8h7M7 13h2",
  save: "M4 2h8v12l-4-3-4 3z",
  download: "M8 2.5V10M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
};

/** @param {string} name */
export function icon(name) {
  const attributes = { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", width: 16, height: 16 };
  return s("svg", attributes, s("path", { d: PATHS[name] ?? PATHS.none }));
}

// Numbers, times and durations in the language of the page.

const number = new Intl.NumberFormat(language);
/** A time of this year: the year adds nothing. */
const brief = new Intl.DateTimeFormat(language, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const clocks = new Intl.DateTimeFormat(language, { timeStyle: "long" });
const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** @param {number} value */
export const count = (value) => number.format(value);

/** @param {number} value @param {string} one @param {string} many */
export const counted = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

/** A time with its zone. @param {string | null | undefined} iso */
export const moments = (iso) => (iso ? moment.format(new Date(iso)) : "");

/** @param {Date} date */
export const clock = (date) => clocks.format(date);

/** A time as an element; empty without one. @param {string | null | undefined} iso */
export function when(iso) {
  if (!iso) return "";
  const date = new Date(iso);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  const text = isThisYear ? brief.format(date) : moments(iso);
  return h("time", { dateTime: iso, title: moments(iso) }, text);
}

/** How long ago a time was; the time itself stands in its tooltip and is read out.
 * @param {string | null | undefined} iso @param {number} [now] */
export function ago(iso, now = Date.now()) {
  if (!iso) return "";
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const title = moments(iso);
  if (Math.abs(seconds) > 7 * 86400) {
    return h("time", { dateTime: iso, title }, dates.format(new Date(iso)));
  }
  const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? UNITS[3];
  const text = relative.format(Math.round(seconds / size), unit);
  return h("time", { dateTime: iso, title }, text);
}

const dayUtc = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
/** @param {Date} date */
export const utcDay = (date) => dayUtc.format(date);

/** @param {number} ms */
export const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

/** A moment of the browser's zone as the API wants it. @param {string} local */
export const momentOf = (local) => (local ? new Date(local).toISOString() : "");
