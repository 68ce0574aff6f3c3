/** The frame around the views: navigation, account, state of the connection. */

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
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
  const here = routeOf(location.hash.slice(1) || home())?.name;
  fill(
    header,
    h("a", { className: "brand", href: `#${home()}` }, icon("mark"), h("span", {}, "phoneprov")),
    h(
      "nav",
      { "aria-label": texts.navigation },
      h(
        "ul",
        {},
        ...links().map(({ name, href, text }) =>
          h(
            "li",
            {},
            h(
              "a",
              { href, "aria-current": here === name ? "page" : undefined },
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
        { href: "#/about", "aria-current": here === "account" ? "page" : undefined },
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
