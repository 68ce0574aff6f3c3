/** Views by the part of the address after `#`. */

import { fill, h } from "./dom.js";
import { texts } from "./texts.js";
import { errorBox } from "./elements/error-box.js";
import { view as about } from "./views/about.js";
import { view as audit } from "./views/audit.js";
import { view as batch } from "./views/batch.js";
import { view as batches } from "./views/batches.js";
import { view as deployment } from "./views/deployment.js";
import { view as directory } from "./views/directory.js";
import { view as importTable } from "./views/import.js";
import { view as newBatch } from "./views/new-batch.js";
import { view as people } from "./views/people.js";
import { view as person } from "./views/person.js";
import { view as phone } from "./views/phone.js";
import { view as phones } from "./views/phones.js";
import { view as profile } from "./views/profile.js";
import { view as profiles } from "./views/profiles.js";
import { view as records } from "./views/records.js";
import { view as switchPhone } from "./views/switch.js";

/**
 * @typedef {{element: HTMLElement, signal: AbortSignal, parameters: string[],
 *   query: URLSearchParams}} Place
 * @typedef {(place: Place) => Promise<void> | void} View
 */

/** @type {[RegExp, View][]} */
const routes = [
  [/^\/phones$/, phones],
  [/^\/phones\/([^/]+)$/, phone],
  [/^\/switch$/, switchPhone],
  [/^\/deployments\/([^/]+)$/, deployment],
  [/^\/batches$/, batches],
  [/^\/batches\/new$/, newBatch],
  [/^\/batches\/([^/]+)$/, batch],
  [/^\/profiles$/, profiles],
  [/^\/profiles\/([^/]+)$/, profile],
  [/^\/people$/, people],
  [/^\/people\/([^/]+)$/, person],
  [/^\/(extensions|permissions|modules|services)$/, records],
  [/^\/import$/, importTable],
  [/^\/directory$/, directory],
  [/^\/audit$/, audit],
  [/^\/about$/, about],
];

/** @type {AbortController | null} */
let current = null;
/** @type {(() => string | null) | null} */
let leaveQuestion = null;
let shownHash = "";

/**
 * Ask before the view is left: the function returns the question, or null when nothing is lost.
 *
 * @param {() => string | null} question
 */
export function askBeforeLeaving(question) {
  leaveQuestion = question;
}

addEventListener("beforeunload", (event) => {
  if (leaveQuestion?.()) event.preventDefault();
});

/** @param {string} path */
export function go(path) {
  location.hash = path;
}

/**
 * Show the view of the address in `main`.
 *
 * @param {HTMLElement} main
 * @param {string} home
 * @param {{focus: boolean}} options whether the view takes the focus: not when a page is opened
 */
export async function show(main, home, { focus }) {
  const hash = location.hash.slice(1) || home;
  const question = leaveQuestion?.();
  if (question && hash !== shownHash && !confirm(question)) {
    history.replaceState(null, "", `#${shownHash}`);
    return;
  }
  leaveQuestion = null;
  shownHash = hash;
  for (const dialog of document.querySelectorAll("dialog:not(.session)")) {
    /** @type {HTMLDialogElement} */ (dialog).close();
  }
  current?.abort();
  const controller = (current = new AbortController());
  const [path, search = ""] = hash.split("?");
  const found = routes.find(([pattern]) => pattern.test(path));
  if (!found) {
    fill(main, h("h1", {}, texts.notFound), h("p", {}, texts.notFoundHint));
    return;
  }
  const element = h("div", { className: "view" });
  fill(main, element);
  element.setAttribute("aria-busy", "true");
  try {
    const parameters = (found[0].exec(path) ?? []).slice(1).map(decodeURIComponent);
    await found[1]({
      element,
      signal: controller.signal,
      parameters,
      query: new URLSearchParams(search),
    });
  } catch (error) {
    if (controller.signal.aborted) return;
    fill(element, h("h1", {}, texts.failed), errorBox(error));
  } finally {
    element.removeAttribute("aria-busy");
  }
  if (controller.signal.aborted) return;
  const heading = main.querySelector("h1");
  document.title = heading ? `${heading.textContent} - phoneprov` : "phoneprov";
  if (focus) main.focus({ preventScroll: true });
}
