/** What all pages are made of: headings, facts, states, tables, errors, notices, dialogs, menus. */

import { ApiError, ConnectionLost, session } from "../api.js";
import { fill, h, icon, uniqueId } from "../dom.js";
import { guarded, place } from "../navigation.js";
import { texts } from "../texts.js";
import { inWords, labelOf } from "../texts/frame.js";

// Names and values of one record, and states as badges.

/** @param {[string, import("../dom.js").Child][]} pairs @param {"" | "across" | "twofold"} [shape] beside
 * each other, or in two columns, on wide screens */
export function facts(pairs, shape = "") {
  return h(
    "dl",
    { className: `facts ${shape}` },
    ...pairs.flatMap(([name, value]) => [
      h("dt", {}, name),
      h("dd", {}, value === null || value === undefined || value === "" ? "-" : value),
    ]),
  );
}

/** What a state means for the operator. @type {Record<string, string>} */
const MEANINGS = {
  deployed: "good",
  confirmed: "good",
  done: "good",
  served: "good",
  created: "good",
  updated: "good",
  changed: "good",
  failed: "bad",
  not_confirmed: "bad",
  interrupted: "wait",
  error: "bad",
  refused: "bad",
  stopped: "bad",
  unknown: "unknown",
  not_found: "unknown",
  running: "wait",
  pending: "wait",
  waiting: "wait",
  warning: "wait",
  fine: "good",
  foreign: "bad",
  unreachable: "bad",
  wrong_model: "wait",
  wrong_load: "bad",
  user_inactive: "bad",
  unregistered: "bad",
  file_changed: "wait",
  never_seen: "unknown",
  agrees: "good",
  differs: "bad",
  not_registered: "unknown",
};

/** @param {string} state */
export const meaningOf = (state) => MEANINGS[state] ?? "none";

/** A state of the API as a word with a colour and a drawing.
 * @param {string} state @param {Record<string, string>} words */
export function badge(state, words) {
  const meaning = meaningOf(state);
  return h("span", { className: `badge ${meaning} ${state}` }, icon(meaning), words[state] ?? state);
}

// The heading of a page with what can be done there.

/** @param {import("../dom.js").Child} title @param {...import("../dom.js").Child} actions */
export function heading(title, ...actions) {
  const { above } = place;
  const trail = above && h("a", { className: "trail", href: `#/${above}` }, texts[above]);
  return h("div", { className: "heading" }, trail, h("h1", {}, title), ...actions);
}

/** A link to a page of the documentation, in a tab of its own, so that input stays. @param {string} page */
export const help = (page) =>
  h(
    "a",
    { className: "button help-link", href: `#/help/${page}`, target: "_blank", title: texts.help },
    icon("book"),
    h("span", { className: "hidden" }, texts.help),
  );

/** A link to the audit entries of a record, for level 0. @param {string} id */
export const auditLink = (id) =>
  session.isAdmin && h("a", { className: "button", href: `#/audit?resource_id=${encodeURIComponent(id)}` }, texts.audit);

/** A page for accounts without level 0 that need it. */
export const needsLevel0 = () => [h("h1", {}, texts.notAvailable), h("p", {}, texts.needsLevel0)];

/** A part of a page. @param {string} title @param {...import("../dom.js").Child} content */
export function section(title, ...content) {
  return h("section", {}, h("h2", {}, title), ...content);
}

// A short table whose rows are all in the page.

/** A column of sentences, which gets the width that the others leave.
 * @param {string} title @returns {[string, string]} */
export const sentences = (title) => [title, "text"];

/**
 * @param {string} caption
 * @param {(string | [string, string])[]} titles those with a class for their cells, too
 * @param {import("../dom.js").Child[][]} rows the first cell of each is its heading
 * @param {string} [empty]
 */
export function simpleTable(caption, titles, rows, empty) {
  if (rows.length === 0) return h("p", {}, empty ?? texts.noRows);
  const columns = titles.map((title) => (typeof title === "string" ? [title, ""] : title));
  return h(
    "div",
    { className: "table", tabIndex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...columns.map(([title, className]) => h("th", { scope: "col", className }, title)))),
      h(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((cell, place) => h("td", { className: columns[place + 1][1], "data-title": columns[place + 1][0] }, cell))),
        ),
      ),
    ),
  );
}

// An error in words, with each field concerned by the name that the console gives it.

/** @param {unknown} error */
export function messageOf(error) {
  if (error instanceof ApiError && error.details.length > 0 && error.status === 422) {
    return texts.wrongInput;
  }
  const isKnown = error instanceof ApiError || error instanceof ConnectionLost;
  return isKnown ? inWords(error.message) : texts.unexpected(String(error));
}

/**
 * @param {unknown} error
 * @param {(field: string) => boolean} [isShown] whether a problem of this field stands beside it
 */
export function errorBox(error, isShown = () => false) {
  const details = error instanceof ApiError ? error.details : [];
  const others = details.filter(({ field }) => !isShown(field));
  return h(
    "div",
    { className: "error", role: "alert" },
    h("p", {}, messageOf(error)),
    others.length > 0 &&
      h(
        "ul",
        {},
        ...others.map(({ field, message }) =>
          // The first line of a table has the names of the API.
          h("li", {}, field && `${labelOf(field)} `, field.startsWith("lines[1]") ? message : inWords(message)),
        ),
      ),
  );
}

// Short messages about what happened; read out by screen readers.

const STAYS_MS = 8000;

/** @param {string} message @param {"done" | "failed"} [kind] */
export function notice(message, kind = "done") {
  const place = document.getElementById("notices");
  const remove = () => element.remove();
  const element = h(
    "div",
    { className: `notice ${kind}` },
    h("span", {}, message),
    h("button", { className: "plain", "aria-label": texts.close, onclick: remove }, "×"),
  );
  place?.append(element);
  if (kind === "done") setTimeout(remove, STAYS_MS);
}

// Modal dialogs on the browser's own `dialog` element, which keeps the focus inside.

/**
 * Ask a question; resolves with whether it was confirmed. `details` say what will happen.
 *
 * @param {string} question
 * @param {string} confirmation text of the button
 * @param {{isDangerous?: boolean, details?: Node | null}} [options]
 * @returns {Promise<boolean>}
 */
export function ask(question, confirmation, { isDangerous = false, details = null } = {}) {
  return new Promise((resolve) => {
    const id = uniqueId("question");
    const dialog = h(
      "dialog",
      { "aria-labelledby": id },
      h("h2", { id }, question),
      details,
      h(
        "div",
        { className: "actions" },
        h("button", { onclick: () => dialog.close("no") }, texts.cancel),
        h(
          "button",
          { className: isDangerous ? "danger" : "primary", onclick: () => dialog.close("yes") },
          confirmation,
        ),
      ),
    );
    open(dialog, () => resolve(dialog.returnValue === "yes"));
  });
}

/**
 * Show content in a dialog with a heading; resolves when it is closed. It asks before the input of
 * its forms is lost.
 *
 * @param {string} title
 * @param {(close: () => void) => Node} content
 * @returns {Promise<void>}
 */
export function show(title, content) {
  return new Promise((resolve) => {
    const id = uniqueId("dialog");
    const dialog = h("dialog", { "aria-labelledby": id });
    const close = () => dialog.close();
    const leave = () => {
      if (!hasChanges() || confirm(texts.discardChanges)) close();
    };
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      leave();
    });
    // Last, so that the first field has the focus.
    const button = h("button", { className: "plain leave", "aria-label": texts.close, onclick: leave }, "×");
    const hasChanges = guarded(() => dialog.append(h("h2", { id }, title), content(close), button));
    open(dialog, () => resolve());
  });
}

/** @param {HTMLDialogElement} dialog @param {() => void} closed */
function open(dialog, closed) {
  const before = document.activeElement;
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
    closed();
  });
  dialog.showModal();
}

// A button that opens a small panel below it. Escape and a click elsewhere close it.

/**
 * @param {string} label
 * @param {string} drawing
 * @param {(close: () => void) => import("../dom.js").Child[]} content
 */
export function menu(label, drawing, content) {
  const id = uniqueId("menu");
  const panel = h("div", { id, className: "panel", hidden: true });
  const button = h(
    "button",
    { type: "button", title: label, "aria-expanded": "false", "aria-controls": id, onclick: toggle },
    icon(drawing),
    h("span", {}, label),
  );
  const element = h("div", { className: "menu", onkeydown: key }, button, panel);

  function close() {
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    removeEventListener("pointerdown", outside);
  }

  /** @param {Event} event */
  function outside(event) {
    if (!element.contains(/** @type {Node} */ (event.target))) close();
  }

  function toggle() {
    if (!panel.hidden) {
      close();
      return;
    }
    fill(panel, ...content(close));
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    addEventListener("pointerdown", outside);
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    close();
    button.focus();
  }

  return element;
}
