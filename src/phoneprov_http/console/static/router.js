/** Views by the part of the address after `#`. A view is loaded when it is first shown. */

import { fill, h } from "./dom.js";
import { errorBox } from "./elements/error-box.js";
import { heading } from "./elements/heading.js";
import { arrive, forgetGuards, keep, kept, mayLeave, place } from "./navigation.js";
import { session } from "./session.js";
import { texts } from "./texts.js";
import { restored } from "./transport.js";

/**
 * @typedef {{element: HTMLElement, signal: AbortSignal, parameters: string[],
 *   query: URLSearchParams}} Place
 * @typedef {(place: Place) => Promise<void> | void} View
 * @typedef {{name: string, pattern: RegExp, load: () => Promise<{view: View}>, isForAll: boolean}} Route
 */

/** `name` is the link of the navigation that leads here.
 * @param {string} name @param {RegExp} pattern @param {Route["load"]} load @returns {Route} */
const route = (name, pattern, load) => ({ name, pattern, load, isForAll: true });
/** A view that needs level 0. @type {typeof route} */
const level0 = (...given) => ({ ...route(...given), isForAll: false });

export const routes = [
  route("overview", /^\/overview$/, () =>
    session.isAdmin
      ? import("./views/overview.js")
      : session.isHelpdesk
        ? import("./views/helpdesk.js")
        : import("./views/own-overview.js"),
  ),
  route("phones", /^\/phones$/, () => import("./views/phones.js")),
  route("phones", /^\/phones\/([^/]+)$/, () => import("./views/phone.js")),
  route("phones", /^\/switch$/, () => import("./views/switch.js")),
  level0("phones", /^\/history$/, () => import("./views/earlier.js")),
  level0("phones", /^\/discovered$/, () => import("./views/discovered.js")),
  route("phones", /^\/(modules|locations)$/, () => import("./views/records.js")),
  route("phones", /^\/flags$/, () => import("./views/flags.js")),
  route("deployments", /^\/deployments$/, () => import("./views/deployments.js")),
  route("deployments", /^\/deployments\/([^/]+)$/, () => import("./views/deployment.js")),
  level0("desks", /^\/desks$/, () => import("./views/desks.js")),
  level0("batches", /^\/batches$/, () => import("./views/batches.js")),
  level0("batches", /^\/batches\/new$/, () => import("./views/new-batch.js")),
  level0("batches", /^\/batches\/([^/]+)$/, () => import("./views/batch.js")),
  route("profiles", /^\/profiles$/, () => import("./views/profiles.js")),
  route("profiles", /^\/profiles\/([^/]+)$/, () => import("./views/profile.js")),
  level0("profiles", /^\/templates$/, () => import("./views/templates.js")),
  level0("profiles", /^\/templates\/([^/]+)$/, () => import("./views/template.js")),
  route("people", /^\/people$/, () => import("./views/people.js")),
  level0("people", /^\/people\/(join|leave)$/, () => import("./views/join.js")),
  route("people", /^\/people\/([^/]+)$/, () => import("./views/person.js")),
  level0("people", /^\/(extensions|permissions)$/, () => import("./views/records.js")),
  route("people", /^\/(services)$/, () => import("./views/records.js")),
  level0("people", /^\/import$/, () => import("./views/import.js")),
  route("directory", /^\/directory$/, () => import("./views/directory.js")),
  level0("audit", /^\/audit$/, () => import("./views/audit.js")),
  route("help", /^\/help\/((?:how-to|explanation|reference)\/[\w/-]+)$/, () => import("./views/help.js")),
  route("account", /^\/about$/, () => import("./views/about.js")),
];

/**
 * The view of a route, also if the connection is lost meanwhile.
 *
 * @param {Route} found
 */
async function loaded(found) {
  try {
    return await found.load();
  } catch {
    await restored();
  }
  try {
    return await found.load();
  } catch (error) {
    // A browser may keep that a module failed: the page is loaded again, once.
    if (kept("isReloaded")) throw error;
    keep("isReloaded", true);
    location.reload();
    return new Promise(() => {});
  }
}

/** @type {AbortController | null} */
let current = null;
/** The entry of the history that is shown: its number and its address. */
let shown = { number: 0, hash: "" };

/** @param {string} home */
export const address = (home) => location.hash.slice(1) || home;

/** The route of an address. @param {string} hash */
export function routeOf(hash) {
  const [path] = hash.split("?");
  return routes.find(({ pattern }) => pattern.test(path));
}

/** The list above a page; null for a page of the navigation. @param {string} path */
function listAbove(path) {
  const [, first, ...rest] = path.split("/");
  const name = rest.length > 0 ? first : routeOf(path)?.name;
  const isList = path !== `/${name}` && routeOf(`/${name}`) !== undefined;
  return isList ? /** @type {import("./navigation.js").ListName} */ (name) : null;
}

addEventListener("readdressed", () => {
  shown.hash = location.hash.slice(1);
});

/** Whether the address is to be shown: what was typed is kept unless the operator discards it.
 * @param {string} home */
export function mayShow(home) {
  const hash = address(home);
  if (hash === shown.hash) return kept("number") !== shown.number;
  if (mayLeave()) return true;
  const number = kept("number");
  if (typeof number === "number" && number !== shown.number) history.go(shown.number - number);
  else history.replaceState({ number: shown.number }, "", `#${shown.hash}`);
  return false;
}

/** What an account without level 0 sees of a page that needs it. */
export const needsLevel0 = () => [h("h1", {}, texts.notAvailable), h("p", {}, texts.needsLevel0)];

/** The variable parts of a path; null if they are not encoded as an address is.
 * @param {string[]} match */
function partsOf(match) {
  try {
    return match.slice(1).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/**
 * Show the view of the address in `main`.
 *
 * @param {HTMLElement} main
 * @param {string} home
 * @param {{focus: boolean}} options whether the view takes the focus: not when a page is opened
 */
export async function show(main, home, { focus }) {
  const hash = address(home);
  arrive();
  if (typeof kept("number") !== "number") keep("number", shown.number + 1);
  shown = { number: kept("number"), hash };
  for (const dialog of document.querySelectorAll("dialog:not(.session)")) {
    /** @type {HTMLDialogElement} */ (dialog).close();
  }
  current?.abort();
  const controller = (current = new AbortController());
  const { signal } = controller;
  const [path, search = ""] = hash.split("?");
  const found = routeOf(hash);
  const parameters = found && partsOf(found.pattern.exec(path) ?? []);
  place.above = listAbove(path);
  const element = h("div", { className: "view" });
  element.setAttribute("aria-busy", "true");
  fill(main, element);
  try {
    if (!found || !parameters) {
      fill(element, h("h1", {}, texts.notFound), h("p", {}, texts.notFoundHint));
    } else if (!found.isForAll && !session.isAdmin) {
      fill(element, ...needsLevel0());
    } else {
      const { view } = await loaded(found);
      if (kept("isReloaded")) keep("isReloaded", false);
      if (signal.aborted) return;
      await view({ element, signal, parameters, query: new URLSearchParams(search) });
    }
  } catch (error) {
    if (signal.aborted) return;
    fill(element, heading(texts.failed), errorBox(error));
  } finally {
    element.removeAttribute("aria-busy");
  }
  if (signal.aborted) return;
  const title = main.querySelector("h1")?.textContent;
  document.title = title ? `${title} - phoneprov` : "phoneprov";
  const active = document.activeElement;
  if (focus && (active === null || active === document.body)) main.focus({ preventScroll: true });
}

/** Show the same view again, with fresh data. */
export function showAgain() {
  forgetGuards();
  shown = { ...shown, hash: "" };
  dispatchEvent(new HashChangeEvent("hashchange"));
}
