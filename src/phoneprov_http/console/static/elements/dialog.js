/** Modal dialogs on the browser's own `dialog` element, which keeps the focus inside. */

import { h, uniqueId } from "../dom.js";
import { guarded } from "../navigation.js";
import { texts } from "../texts.js";

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
