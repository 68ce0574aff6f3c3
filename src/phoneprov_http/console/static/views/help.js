/** A page of the documentation, from its Markdown. */

import { send } from "../api.js";
import { fill, h } from "../dom.js";
import { texts } from "../texts.js";

// Pages of the documentation as elements: the part of Markdown in which they are written.

/** @typedef {(target: string) => string | null} Link the address of a target, null for none here */

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)\s]+)\)/g;
const FENCE = /^ *```/;
const ITEM = /^( *)(?:[-*]|(\d+)\.) +/;
const HEADING = /^(#{1,6}) +(.*)$/;
const CELLS = /(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/;

/** The name of a heading in addresses. @param {string} text */
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .trim()
    .replace(/\s+/g, "-");

/** The cells of a row of a table. @param {string} line */
export const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(CELLS)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/**
 * Where a line begins another block than a paragraph.
 *
 * @param {string} line
 */
const isBlock = (line) => line.trim() === "" || FENCE.test(line) || ITEM.test(line) || HEADING.test(line) || line.startsWith("|");

/** @param {string} text @param {Link} link @returns {(Node | string)[]} */
function inline(text, link) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, strong, emphasis, label, target] = found;
    if (found.index > at) parts.push(text.slice(at, found.index));
    at = found.index + all.length;
    if (code) parts.push(h("code", {}, code));
    else if (strong) parts.push(h("strong", {}, ...inline(strong, link)));
    else if (emphasis) parts.push(h("em", {}, emphasis));
    else {
      const href = link(target);
      parts.push(...(href === null ? inline(label, link) : [h("a", { href }, ...inline(label, link))]));
    }
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** @param {string} text @param {Link} link @returns {HTMLElement[]} */
export function markdown(text, link) {
  return blocks(text.split("\n"), link);
}

/** @param {string[]} lines @param {Link} link @returns {HTMLElement[]} */
function blocks(lines, link) {
  /** @type {HTMLElement[]} */
  const made = [];
  let at = 0;
  /** The lines from here while they belong together. @param {(line: string) => boolean} belongs */
  const taken = (belongs) => {
    const begin = at;
    while (at < lines.length && belongs(lines[at])) at += 1;
    return lines.slice(begin, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (line.trim() === "") at += 1;
    else if (heading) {
      at += 1;
      const tag = /** @type {"h1" | "h2" | "h3"} */ (`h${Math.min(heading[1].length, 3)}`);
      made.push(h(tag, { id: slug(heading[2]) }, ...inline(heading[2], link)));
    } else if (FENCE.test(line)) {
      at += 1;
      const indent = line.search(/\S/);
      const code = taken((one) => !FENCE.test(one)).map((one) => one.slice(indent));
      at += 1;
      made.push(h("pre", { className: "code", tabIndex: 0 }, code.join("\n")));
    } else if (line.startsWith("|")) made.push(table(taken((one) => one.startsWith("|")), link));
    else if (ITEM.test(line)) {
      const isNumbered = /^ *\d/.test(line);
      const belongs = (/** @type {string} */ one) => ITEM.test(one) && /^ *\d/.test(one) === isNumbered;
      made.push(list(taken((one) => belongs(one) || /^ /.test(one) || one.trim() === ""), link));
    } else {
      at += 1;
      made.push(h("p", {}, ...inline([line, ...taken((one) => !isBlock(one))].join(" "), link)));
    }
  }
  return made;
}

/** @param {string[]} lines @param {Link} link */
function list(lines, link) {
  const first = /** @type {RegExpExecArray} */ (ITEM.exec(lines[0]));
  /** @type {string[][]} */
  const items = [];
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found && found[1].length <= first[1].length) items.push([line.slice(found[0].length)]);
    else items[items.length - 1].push(line.slice(Math.min(first[0].length, line.search(/\S|$/))));
  }
  const made = items.map((item) => h("li", {}, ...blocks(item, link)));
  return first[2] ? h("ol", { start: Number(first[2]) }, ...made) : h("ul", {}, ...made);
}

/** @param {string[]} lines @param {Link} link */
function table([head, , ...rows], link) {
  /** @param {"th" | "td"} tag @param {string} line */
  const cells = (tag, line) => cellsOf(line).map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, ...inline(cell, link)));
  return h(
    "div",
    { className: "help-table", tabIndex: 0 },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...cells("th", head))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells("td", row)))),
    ),
  );
}

// A page of the documentation, as it belongs to this version of the service.

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
export async function helpView({ element, parameters: [page], query, signal }) {
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
