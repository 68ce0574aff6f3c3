/** The heading of a page with what can be done there. */

import { h } from "../dom.js";

/** @param {import("../dom.js").Child} title @param {...import("../dom.js").Child} actions */
export function heading(title, ...actions) {
  return h("div", { className: "heading" }, h("h1", {}, title), ...actions);
}

/** A part of a page. @param {string} title @param {...import("../dom.js").Child} content */
export function section(title, ...content) {
  return h("section", {}, h("h2", {}, title), ...content);
}
