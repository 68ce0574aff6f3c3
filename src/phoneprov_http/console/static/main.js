/** Start: sign in or resume, then show the view of the address. */

import { notice } from "./elements/notice.js";
import { mayLeave } from "./navigation.js";
import { mayShow, routes, show } from "./router.js";
import { session } from "./session.js";
import { drawHeader, home } from "./shell.js";
import { help, listenForShortcuts } from "./shortcuts.js";
import { texts } from "./texts.js";
import { connection } from "./transport.js";
import { providerResult, signInDialog, signInPage } from "./views/sign-in.js";

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
  if (session.me === null) {
    hasAsked = true;
    signInPage(main);
    return;
  }
  const result = providerResult();
  if (result) notice(result.message, result.isDone ? "done" : "failed");
  await show(main, home(), { focus });
  // The other views are fetched while the operator reads, so that they open at once.
  (window.requestIdleCallback ?? setTimeout)(() => routes.forEach(({ load }) => void load().catch(() => {})));
}

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
