/** A button that opens a small panel below it. Escape and a click elsewhere close it. */

import { fill, h, uniqueId } from "../dom.js";
import { icon } from "../icons.js";

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
