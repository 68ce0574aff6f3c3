/** Numbers, times and durations in the language of the browser. */

import { h } from "./dom.js";

const number = new Intl.NumberFormat();
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
/** A time of this year: the year adds nothing. */
const brief = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const clocks = new Intl.DateTimeFormat(undefined, { timeStyle: "long" });
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const language = moment.resolvedOptions().locale;

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
  return h("time", { dateTime: iso, lang: language, title: moments(iso) }, text);
}

/** How long ago a time was; the time itself stands in its tooltip and is read out.
 * @param {string | null | undefined} iso @param {number} [now] */
export function ago(iso, now = Date.now()) {
  if (!iso) return "";
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const title = moments(iso);
  if (Math.abs(seconds) > 7 * 86400) {
    return h("time", { dateTime: iso, lang: language, title }, dates.format(new Date(iso)));
  }
  const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? UNITS[3];
  const text = relative.format(Math.round(seconds / size), unit);
  return h("time", { dateTime: iso, lang: language, title }, text);
}

const dayUtc = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
/** @param {Date} date */
export const utcDay = (date) => dayUtc.format(date);

/** @param {number} ms */
export const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
