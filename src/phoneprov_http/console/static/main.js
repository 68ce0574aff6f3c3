/** Start: sign in or resume, then the view of the address in its frame; the keys. */

import { connection, session } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { finder } from "./elements/finder.js";
import { notice, show } from "./elements/parts.js";
import { go, mayLeave } from "./navigation.js";
import { mayShow, routeOf, showView } from "./router.js";
import { texts } from "./texts.js";
import { providerResult, signInDialog, signInPage } from "./views/sign-in.js";

/** @typedef {{name: string, href: string, text: string, key: string}} Link */

// The frame around the views: navigation, account, state of the connection.

/** The links of the navigation that the caller has; `key` is pressed after `g`. @returns {Link[]} */
function links() {
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

const home = () => "/overview";

/** @param {HTMLElement} header @param {() => void} signOut @param {() => void} help */
function drawHeader(header, signOut, help) {
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

// Keys for the whole console: `/` searches, `g` and a letter goes to a page, `?` shows them.

const SECOND_KEY_MS = 1500;

let wentAt = -Infinity;

function listenForShortcuts() {
  addEventListener("keydown", (event) => {
    if (session.me === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    if (target instanceof HTMLElement && target.matches("input, textarea, select")) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.timeStamp - wentAt < SECOND_KEY_MS) {
      wentAt = -Infinity;
      const link = links().find(({ key }) => key === event.key);
      if (link) go(link.href.slice(1));
    } else if (event.key === "g") {
      wentAt = event.timeStamp;
    } else if (event.key === "/") {
      event.preventDefault();
      search();
    } else if (event.key === "?") {
      help();
    }
  });
}

/** The search field of the view, or that of the header. */
function search() {
  const field = document.querySelector("main [name=q]") ?? document.querySelector(".finder input");
  /** @type {HTMLElement} */ (field).focus();
}

/** Show the keys. */
function help() {
  const keys = [
    ["/", texts.search],
    ...links().map(({ key, text }) => [`g ${key}`, text]),
    ["↑ ↓", texts.keysRows],
    ["Enter", texts.keysOpen],
    ["?", texts.shortcuts],
  ];
  void show(texts.shortcuts, () =>
    h(
      "dl",
      { className: "facts" },
      ...keys.flatMap(([key, text]) => [
        h("dt", {}, ...key.split(" ").map((one) => h("kbd", {}, one))),
        h("dd", {}, text),
      ]),
    ),
  );
}

// Start: sign in or resume, then show the view of the address.

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const header = /** @type {HTMLElement} */ (document.getElementById("header"));
const status = /** @type {HTMLElement} */ (document.getElementById("connection"));

async function signOut() {
  if (!mayLeave()) return;
  try {
    await session.signOut();
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error), "failed");
  }
}

/** @param {{focus: boolean}} options */
async function draw({ focus } = { focus: true }) {
  drawHeader(header, () => void signOut(), help);
  // Nothing that stands on the page already moves for the header.
  document.getElementById("starting")?.remove();
  main.hidden = false;
  if (session.me === null) {
    hasAsked = true;
    signInPage(main);
    return;
  }
  const result = providerResult();
  if (result) notice(result.message, result.isDone ? "done" : "failed");
  await showView(main, home(), { focus });
}

/** The view of a link is fetched when the pointer or the focus comes to it, and so opens at once.
 * @param {Event} event */
function fetchAhead({ target }) {
  const link = target instanceof Element && target.closest('a[href^="#/"]');
  if (link instanceof HTMLAnchorElement) void routeOf(link.hash.slice(1))?.load().catch(() => {});
}
addEventListener("pointerover", fetchAhead);
addEventListener("focusin", fetchAhead);

// What is cut off at the end of its cell is read in full as its tooltip.
addEventListener("pointerover", ({ target }) => {
  const cell = target instanceof Element ? target.closest("td, th, .bars a") : null;
  if (cell instanceof HTMLElement) cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : "";
});

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

connection.addEventListener("lost", () => {
  status.textContent = texts.connectionIsLost;
  status.className = "lost";
});
connection.addEventListener("restored", () => {
  status.textContent = "";
  status.className = "";
  notice(texts.connectionRestored);
});

let isBegun = false;
// Whether the sign-in form was shown: then the focus has to go on to the view.
let hasAsked = false;
session.addEventListener("ended", () => {
  if (session.me === null) {
    isBegun = false;
    // The next account begins at its home page.
    history.replaceState(null, "", location.pathname);
    void draw();
  } else {
    signInDialog();
  }
});
session.addEventListener("begun", (event) => {
  const { isOther } = /** @type {CustomEvent<{isOther: boolean}>} */ (event).detail;
  if (!isBegun || isOther) void draw({ focus: hasAsked });
  isBegun = true;
});

// An error that no view shows is not silent.
addEventListener("unhandledrejection", ({ reason }) => {
  if (reason?.name === "AbortError") return;
  notice(reason instanceof Error ? reason.message : String(reason), "failed");
});

addEventListener("hashchange", () => {
  if (session.me === null || mayShow(home())) void draw();
});
listenForShortcuts();

try {
  await session.renew();
} catch {
  await draw();
}
