/** The heading of a page with what can be done there. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { place } from "../navigation.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

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

/** A part of a page. @param {string} title @param {...import("../dom.js").Child} content */
export function section(title, ...content) {
  return h("section", {}, h("h2", {}, title), ...content);
}
