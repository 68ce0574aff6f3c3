/** Start: sign in or resume, then show the view of the address. */

import { connection } from "./api.js";
import { fill, h } from "./dom.js";
import { notice } from "./elements/notice.js";
import { show } from "./router.js";
import { session } from "./session.js";
import { texts } from "./texts.js";
import { signInDialog, signInPage } from "./views/sign-in.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const header = /** @type {HTMLElement} */ (document.getElementById("header"));
const status = /** @type {HTMLElement} */ (document.getElementById("connection"));

const HOME = "/phones";

function drawHeader() {
  const links = [
    ["#/phones", texts.phones],
    session.isAdmin && ["#/batches", texts.batches],
    ["#/profiles", texts.profiles],
    ["#/people", texts.people],
    ["#/directory", texts.directory],
    session.isAdmin && ["#/audit", texts.audit],
  ];
  // Pages below a page of the navigation.
  const here = (location.hash || `#${HOME}`)
    .replace(/^#\/(switch|deployments|modules)\b/, "#/phones")
    .replace(/^#\/(extensions|permissions|services|import)\b/, "#/people");
  fill(
    header,
    h("a", { className: "brand", href: `#${HOME}` }, "phoneprov"),
    h(
      "nav",
      { "aria-label": texts.navigation },
      h(
        "ul",
        {},
        ...links
          .filter((link) => link !== false)
          .map(([href, text]) =>
            h(
              "li",
              {},
              h("a", { href, "aria-current": here.startsWith(href) ? "page" : undefined }, text),
            ),
          ),
      ),
    ),
    h(
      "div",
      { className: "account" },
      h("a", { href: "#/about" }, session.me?.username ?? ""),
      h("button", { onclick: signOut }, texts.signOut),
    ),
  );
  header.hidden = session.me === null;
}

async function signOut() {
  try {
    await session.signOut();
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error), "failed");
  }
}

/** @param {{focus: boolean}} options */
async function draw({ focus } = { focus: true }) {
  drawHeader();
  if (session.me === null) {
    hasAsked = true;
    signInPage(main);
  } else {
    await show(main, HOME, { focus });
  }
}

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

addEventListener("hashchange", () => void draw());

try {
  await session.renew();
} catch {
  await draw();
}
