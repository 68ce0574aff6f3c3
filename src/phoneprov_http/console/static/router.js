/** Views by the part of the address after `#`. */

import { fill, h } from "./dom.js";
import { texts } from "./texts.js";
import { errorBox } from "./elements/error-box.js";

/**
 * @typedef {{element: HTMLElement, title: string, signal: AbortSignal,
 *   parameters: string[], query: URLSearchParams}} Place
 * @typedef {(place: Place) => Promise<void> | void} View
 */

/** @type {[RegExp, () => Promise<{view: View}>][]} */
const routes = [
  [/^\/phones$/, () => import("./views/phones.js")],
  [/^\/phones\/([^/]+)$/, () => import("./views/phone.js")],
  [/^\/switch$/, () => import("./views/switch.js")],
  [/^\/deployments\/([^/]+)$/, () => import("./views/deployment.js")],
  [/^\/batches$/, () => import("./views/batches.js")],
  [/^\/batches\/new$/, () => import("./views/new-batch.js")],
  [/^\/batches\/([^/]+)$/, () => import("./views/batch.js")],
  [/^\/profiles$/, () => import("./views/profiles.js")],
  [/^\/profiles\/([^/]+)$/, () => import("./views/profile.js")],
  [/^\/people$/, () => import("./views/people.js")],
  [/^\/people\/([^/]+)$/, () => import("./views/person.js")],
  [/^\/import$/, () => import("./views/import.js")],
  [/^\/directory$/, () => import("./views/directory.js")],
  [/^\/audit$/, () => import("./views/audit.js")],
  [/^\/about$/, () => import("./views/about.js")],
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

/** @param {string} path */
export function go(path) {
  location.hash = path;
}

/**
 * Show the view of the address in `main`.
 *
 * @param {HTMLElement} main
 * @param {string} home
 */
export async function show(main, home) {
  const hash = location.hash.slice(1) || home;
  const question = leaveQuestion?.();
  if (question && hash !== shownHash && !confirm(question)) {
    history.replaceState(null, "", `#${shownHash}`);
    return;
  }
  leaveQuestion = null;
  shownHash = hash;
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
    const { view } = await found[1]();
    const parameters = (found[0].exec(path) ?? []).slice(1).map(decodeURIComponent);
    await view({
      element,
      title: "",
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
  main.focus({ preventScroll: true });
}
