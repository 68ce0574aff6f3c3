/** The frame around the views: navigation, account, state of the connection. */

import { api, withQuery } from "./api.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { go, here } from "./navigation.js";
import { routeOf } from "./router.js";
import { session } from "./session.js";
import { texts } from "./texts.js";

/** @typedef {{name: string, href: string, text: string, key: string}} Link */

/** The links of the navigation that the caller has; `key` is pressed after `g`. @returns {Link[]} */
export function links() {
  /** @param {string} name @param {string} text @param {string} key */
  const link = (name, text, key) => ({ name, href: `#/${name}`, text, key });
  const admin = session.isAdmin;
  return [
    link("overview", texts.overview, "o"),
    link("phones", texts.phones, "p"),
    ...(admin
      ? [
          link("deployments", texts.deployments, "l"),
          link("desks", texts.desks, "k"),
          link("batches", texts.batches, "b"),
        ]
      : session.isHelpdesk
        ? [link("deployments", texts.deployments, "l")]
        : []),
    link("profiles", texts.profiles, "r"),
    link("people", texts.people, "e"),
    link("directory", texts.directory, "d"),
    ...(admin ? [link("audit", texts.audit, "a")] : []),
  ];
}

export const home = () => "/overview";

/** @param {HTMLElement} header @param {() => void} signOut @param {() => void} help */
export function drawHeader(header, signOut, help) {
  const at = routeOf(location.hash.slice(1) || home())?.name;
  const page = links().find(({ name }) => name === at)?.text ?? (at === "account" ? texts.account : "");
  // On narrow screens this button opens the navigation; on others it is not shown.
  const opener = h(
    "button",
    { className: "opener", "aria-expanded": "false", "aria-controls": "pages", onclick: () => open() },
    icon("menu"),
    h("span", { className: page && "hidden" }, texts.menu),
    page && h("span", {}, page),
  );
  function open(isOpen = !header.classList.contains("open")) {
    header.classList.toggle("open", isOpen);
    opener.setAttribute("aria-expanded", String(isOpen));
  }
  open(false);
  header.onkeydown = ({ key }) => {
    if (key !== "Escape" || !header.classList.contains("open")) return;
    open(false);
    opener.focus();
  };
  fill(
    header,
    h("a", { className: "brand", href: `#${home()}` }, icon("mark"), h("span", {}, "phoneprov")),
    opener,
    finder(),
    h(
      "nav",
      { id: "pages", "aria-label": texts.navigation },
      h(
        "ul",
        {},
        ...links().map(({ name, href, text }) =>
          h(
            "li",
            {},
            h(
              "a",
              { href, "aria-current": at === name ? "page" : undefined },
              icon(name),
              h("span", {}, text),
            ),
          ),
        ),
      ),
    ),
    h(
      "div",
      { className: "account" },
      h(
        "a",
        { href: "#/about", "aria-current": at === "account" ? "page" : undefined },
        icon("account"),
        h("span", {}, session.me?.username ?? ""),
      ),
      h("button", { className: "plain keys", "aria-label": texts.shortcuts, onclick: help }, "?"),
      h("button", { onclick: signOut }, texts.signOut),
    ),
  );
  header.hidden = session.me === null;
  document.body.classList.toggle("signed-in", session.me !== null);
}

/** The field that opens the list of phones with a text; that of people if only a person has it. */
function finder() {
  const [label, placeholder] = session.seesPeople
    ? [texts.findAnything, texts.phoneOrPerson]
    : [texts.findPhone, texts.phone];
  const field = h("input", { type: "search", "aria-label": label, placeholder, autocomplete: "off" });
  const submitted = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const q = field.value.trim();
    if (q === "") return;
    const isHere = here();
    const isFound = async (/** @type {string} */ list) =>
      (await api.get(withQuery(list, { q, limit: 1 }))).data.length > 0;
    const isPerson = session.seesPeople && !(await isFound("phones")) && (await isFound("users"));
    if (isHere()) go(withQuery(isPerson ? "/people" : "/phones", { q }));
  };
  return h("form", { className: "finder", role: "search", "aria-label": label, onsubmit: submitted }, field);
}
