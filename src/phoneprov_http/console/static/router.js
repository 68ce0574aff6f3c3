/** Views by the part of the address after `#`. A view is loaded when it is first shown. */

import { restored, session } from "./api.js";
import { fill, h } from "./dom.js";
import { errorBox, heading, needsLevel0 } from "./elements/parts.js";
import { arrive, keep, kept, mayLeave, place } from "./navigation.js";
import { texts } from "./texts.js";

/**
 * @typedef {{element: HTMLElement, signal: AbortSignal, parameters: string[],
 *   query: URLSearchParams}} Place
 * @typedef {(place: Place) => Promise<void> | void} View
 * @typedef {{name: string, pattern: RegExp, load: () => Promise<View>, isForAll: boolean}} Route
 */

/** `name` is the link of the navigation that leads here.
 * @param {string} name @param {RegExp} pattern @param {Route["load"]} load @returns {Route} */
const route = (name, pattern, load) => ({ name, pattern, load, isForAll: true });
/** A view that needs level 0. @type {typeof route} */
const level0 = (...given) => ({ ...route(...given), isForAll: false });

export const routes = [
  route("overview", /^\/overview$/, () =>
    session.isAdmin
      ? import("./views/overview.js").then((views) => views.overviewView)
      : session.isHelpdesk
        ? import("./views/own-overview.js").then((views) => views.helpdeskView)
        : import("./views/own-overview.js").then((views) => views.ownOverviewView),
  ),
  route("phones", /^\/phones$/, () => import("./views/phones.js").then((views) => views.phonesView)),
  route("phones", /^\/phones\/([^/]+)$/, () => import("./views/phone.js").then((views) => views.phoneView)),
  route("phones", /^\/phones\/([^/]+)\/label$/, () => import("./views/phone-parts.js").then((views) => views.labelView)),
  route("phones", /^\/switch$/, () => import("./views/desks.js").then((views) => views.switchView)),
  level0("phones", /^\/history$/, () => import("./views/deployments.js").then((views) => views.earlierView)),
  level0("phones", /^\/discovered$/, () => import("./views/discovered.js").then((views) => views.discoveredView)),
  route("phones", /^\/(modules|locations|flags)$/, () => import("./views/records.js").then((views) => views.recordsView)),
  route("deployments", /^\/deployments$/, () => import("./views/deployments.js").then((views) => views.deploymentsView)),
  route("deployments", /^\/deployments\/([^/]+)$/, () => import("./views/deployments.js").then((views) => views.deploymentView)),
  level0("desks", /^\/desks$/, () => import("./views/desks.js").then((views) => views.desksView)),
  level0("batches", /^\/batches$/, () => import("./views/batches.js").then((views) => views.batchesView)),
  level0("batches", /^\/batches\/new$/, () => import("./views/new-batch.js").then((views) => views.newBatchView)),
  level0("batches", /^\/batches\/([^/]+)$/, () => import("./views/batches.js").then((views) => views.batchView)),
  route("profiles", /^\/profiles$/, () => import("./views/profiles.js").then((views) => views.profilesView)),
  route("profiles", /^\/profiles\/([^/]+)$/, () => import("./views/profiles.js").then((views) => views.profileView)),
  level0("profiles", /^\/templates$/, () => import("./views/templates.js").then((views) => views.templatesView)),
  level0("profiles", /^\/templates\/([^/]+)$/, () => import("./views/templates.js").then((views) => views.templateView)),
  route("people", /^\/people$/, () => import("./views/people.js").then((views) => views.peopleView)),
  level0("people", /^\/people\/(join|leave)$/, () => import("./views/join.js").then((views) => views.joinView)),
  level0("people", /^\/people\/undo$/, () => import("./views/join.js").then((views) => views.undoView)),
  route("people", /^\/people\/([^/]+)$/, () => import("./views/person.js").then((views) => views.personView)),
  level0("people", /^\/(extensions|permissions)$/, () => import("./views/records.js").then((views) => views.recordsView)),
  route("people", /^\/(services)$/, () => import("./views/records.js").then((views) => views.recordsView)),
  level0("phones", /^\/edit\/(phones)$/, () => import("./views/edit.js").then((views) => views.editView)),
  level0("people", /^\/edit\/(users|extensions)$/, () => import("./views/edit.js").then((views) => views.editView)),
  level0("people", /^\/import$/, () => import("./views/import.js").then((views) => views.importView)),
  route("directory", /^\/directory$/, () => import("./views/people.js").then((views) => views.directoryView)),
  level0("audit", /^\/audit$/, () => import("./views/audit.js").then((views) => views.auditView)),
  route("help", /^\/help\/((?:how-to|explanation|reference)\/[\w/-]+)$/, () => import("./views/help.js").then((views) => views.helpView)),
  route("account", /^\/about$/, () => import("./views/account.js").then((views) => views.accountView)),
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
  const name = rest.length > 0 && routeOf(`/${first}`) ? first : routeOf(path)?.name;
  const isList = path !== `/${name}` && routeOf(`/${name}`) !== undefined;
  return isList ? /** @type {import("./navigation.js").ListName} */ (name) : null;
}

addEventListener("readdressed", () => {
  shown.hash = location.hash.slice(1);
});
addEventListener("outdated", () => {
  shown = { ...shown, hash: "" };
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
export async function showView(main, home, { focus }) {
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
      const view = await loaded(found);
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
