/** A page of the documentation, as it belongs to this version of the service. */

import { fill, h } from "../dom.js";
import { markdown } from "../elements/markdown.js";
import { texts } from "../texts.js";
import { send } from "../transport.js";

const HELP = new URL("help/", document.baseURI);

/**
 * Where a link of a page leads: to another page here, to another host, or nowhere.
 *
 * @param {string} page @param {string} target @returns {string | null}
 */
export function leadsTo(page, target) {
  if (/^https?:/.test(target)) return target;
  const [path, at = ""] = target.split("#");
  const query = at ? `?at=${at}` : "";
  if (path === "") return `#/help/${page}${query}`;
  const found = new URL(path, new URL(`${page}.md`, HELP)).href.replace(HELP.href, "");
  // The decisions and what is outside of the pages are for engineers.
  const name = /^((?:how-to|explanation|reference)\/[\w/-]+)\.md$/.exec(found);
  return name ? `#/help/${name[1]}${query}` : null;
}

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [page], query, signal }) {
  const reply = await send(new URL(`${page}.md`, HELP), { signal });
  if (!reply.ok) {
    fill(element, h("h1", {}, texts.notFound), h("p", {}, texts.noHelp));
    return;
  }
  const text = await reply.text();
  element.classList.add("help");
  fill(
    element,
    ...markdown(text, (target) => leadsTo(page, target)),
    h("p", {}, h("a", { href: "#/help/how-to/console" }, texts.helpOfConsole)),
  );
  // The view is shown before it is scrolled.
  const at = query.get("at");
  if (at) requestAnimationFrame(() => document.getElementById(at)?.scrollIntoView());
}
