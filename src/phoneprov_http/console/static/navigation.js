/** The address, the history, and what this browser keeps. */

import { texts } from "./texts.js";

/** @typedef {"phones" | "deployments" | "batches" | "profiles" | "templates" | "people"} ListName */

// Going to another view, and asking before input is lost.

/** What is asked before a view is left: each function says whether something would be lost.
 * @type {Set<() => boolean>} */
const guards = new Set();

/** Where the shown page is: the list above it. */
export const place = { above: /** @type {ListName | null} */ (null) };

/** @param {string} path */
export function go(path) {
  location.hash = path;
}

/**
 * Change the address of the view that is shown, without showing it again.
 *
 * @param {string} path
 */
export function readdress(path) {
  history.replaceState(history.state, "", `#${path}`);
  dispatchEvent(new CustomEvent("readdressed"));
}

/**
 * Ask before a view or a dialog is left while the function says that something would be lost.
 *
 * @param {() => boolean} hasChanges
 * @returns {() => void} ends it
 */
export function guard(hasChanges) {
  guards.add(hasChanges);
  return () => guards.delete(hasChanges);
}

/**
 * Whether something would be lost of the forms that are made during the work.
 *
 * @param {() => void} work
 */
export function guarded(work) {
  const before = new Set(guards);
  work();
  const own = [...guards].filter((one) => !before.has(one));
  return () => own.some((one) => one());
}

let views = 0;

/** Another view is shown: nothing of the one before would be lost. */
export function arrive() {
  views += 1;
  forgetGuards();
}

/** Whether the view of now is still shown, when a request of it is answered. */
export function here() {
  const view = views;
  return () => view === views;
}

/** Forget what would be lost: it was saved, or its record is gone. */
export function forgetGuards() {
  guards.clear();
}

/** Show the same view again, with fresh data. */
export function showAgain() {
  forgetGuards();
  dispatchEvent(new Event("outdated"));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function hasChanges() {
  return [...guards].some((one) => one());
}

/** Whether to go on although something may be lost. */
export function mayLeave() {
  return !hasChanges() || confirm(texts.discardChanges);
}

addEventListener("beforeunload", (event) => {
  if (hasChanges()) event.preventDefault();
});

/**
 * What a view keeps of itself for the way back: the browser's entry of the history holds it.
 *
 * @param {string} name
 * @param {unknown} value
 */
export function keep(name, value) {
  history.replaceState({ ...history.state, [name]: value }, "");
}

/** @param {string} name */
export function kept(name) {
  return history.state?.[name];
}

// Choices of the operator that this browser keeps: columns and saved filters. No records.

const PREFIX = "phoneprov console ";

export const store = {
  /** @template T @param {string} key @param {T} otherwise @returns {T} */
  read(key, otherwise) {
    try {
      const text = localStorage.getItem(PREFIX + key);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise; // the browser keeps nothing, or something else wrote it
    }
  },
  /** @param {string} key @param {unknown} value */
  write(key, value) {
    try {
      localStorage.setItem(PREFIX + key, JSON.stringify(value));
    } catch {
      // The choice holds until the page is closed.
    }
  },
};
