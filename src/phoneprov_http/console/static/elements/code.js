/** Configurations as text: the editor, its colours, two texts beside each other. */

import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").Finding} Finding */

// The parts of XML lines by their kind.

/** @typedef {[string, string]} Piece a class and a text */

const TOKEN = /(<!--)|(\{\{.*?\}\}|\{[%#].*?[%#]\})|(<\/?[\w:.-]+|\/?>|<\?[\w-]*|\?>)|([\w:.-]+)(?==)|("[^"]*"|'[^']*')|(&[#\w]+;)/g;
const KINDS = ["comment", "value", "tag", "attribute", "string", "entity"];

/**
 * The lines from `first` to before `last`, in pieces. Comments may begin on an earlier line.
 *
 * @param {string[]} lines
 * @param {number} first
 * @param {number} last
 * @returns {Piece[][]}
 */
export function highlighted(lines, first, last) {
  const before = lines.slice(0, first).join("\n");
  let isComment = before.lastIndexOf("<!--") > before.lastIndexOf("-->");
  return lines.slice(first, last).map((line) => {
    /** @type {Piece[]} */
    const pieces = [];
    let at = 0;
    while (at < line.length) {
      if (isComment) {
        const end = line.indexOf("-->", at);
        const next = end < 0 ? line.length : end + 3;
        pieces.push(["comment", line.slice(at, next)]);
        isComment = end < 0;
        at = next;
        continue;
      }
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(line);
      if (!found) break;
      if (found.index > at) pieces.push(["", line.slice(at, found.index)]);
      if (found[1]) {
        isComment = true;
        at = found.index;
        continue;
      }
      pieces.push([KINDS[found.slice(1).findIndex(Boolean)], found[0]]);
      at = found.index + found[0].length;
    }
    if (at < line.length) pieces.push(["", line.slice(at)]);
    return pieces;
  });
}

// An editor for XML with line numbers and highlighting; findings stand at their lines.

const LINE_PX = 20;
const INDENT = "  ";

/**
 * @param {{label: string, value: string, changed: () => void}} options
 */
export function codeEditor({ label, value, changed }) {
  const id = uniqueId("editor");
  const area = h("textarea", {
    id,
    value,
    spellcheck: false,
    autocomplete: "off",
    wrap: "off",
    oninput: () => {
      draw();
      changed();
    },
    onscroll: () => draw(),
    onkeydown: key,
  });
  const gutter = h("div", { className: "gutter", "aria-hidden": "true" });
  const colours = h("div", { className: "colours", "aria-hidden": "true" });
  const list = h("ul", { className: "findings", "aria-label": texts.findings });
  const state = h("p", { className: "quiet", role: "status" });
  /** @type {Map<number, Finding>} */
  let marks = new Map();

  /** Draw the lines in view. */
  function draw() {
    const lines = area.value.split("\n");
    const first = Math.floor(area.scrollTop / LINE_PX);
    const last = Math.min(lines.length, first + Math.ceil(area.clientHeight / LINE_PX) + 1);
    const [numbers, texts_] = [[], []].map(() => /** @type {HTMLElement[]} */ ([]));
    const pieces = highlighted(lines, first, last);
    for (let at = first; at < last; at += 1) {
      const mark = marks.get(at + 1);
      const top = `${at * LINE_PX - area.scrollTop}px`;
      const number = h("div", { className: mark?.severity ?? "" }, at + 1);
      const text = h(
        "div",
        { className: mark ? `marked ${mark.severity}` : "" },
        ...pieces[at - first].map(([kind, piece]) => h("span", { className: kind }, piece)),
        mark && h("em", {}, mark.message),
      );
      number.style.top = text.style.top = top;
      text.style.left = `${-area.scrollLeft}px`;
      numbers.push(number);
      texts_.push(text);
    }
    fill(gutter, ...numbers);
    fill(colours, ...texts_);
  }

  /** Tab indents; after Escape it leaves the editor. @param {KeyboardEvent} event */
  function key(event) {
    if (event.key === "Escape") {
      isLeaving = true;
      return;
    }
    if (event.key === "Tab" && !isLeaving && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.ctrlKey) {
      event.preventDefault();
      const begun = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
      const before = /^[ \t]*/.exec(area.value.slice(begun, area.selectionStart))?.[0] ?? "";
      insert(`\n${before}`);
    }
    if (event.key !== "Shift") isLeaving = false;
  }
  let isLeaving = false;

  /** With the browser's own command, so that it can be undone. @param {string} text */
  function insert(text) {
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new InputEvent("input"));
    }
  }

  /** @param {boolean} isBack */
  function indent(isBack) {
    const { selectionStart: start, selectionEnd: end, value: text } = area;
    const begun = text.lastIndexOf("\n", start - 1) + 1;
    if (start === end && !isBack) {
      insert(INDENT);
      return;
    }
    const before = text.slice(begun, end);
    const after = isBack ? before.replace(/^ {1,2}/gm, "") : before.replace(/^(?=.)/gm, INDENT);
    area.setSelectionRange(begun, end);
    insert(after);
    area.setSelectionRange(begun, begun + after.length);
  }

  /** @param {number} line @param {number} column */
  function jump(line, column) {
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const end = start + (lines[line - 1]?.length ?? 0);
    area.focus();
    area.setSelectionRange(Math.min(start + Math.max(column - 1, 0), end), end);
    area.scrollTop = Math.max(0, (line - 5) * LINE_PX);
    draw();
  }

  /** @param {Finding[]} findings */
  function show(findings) {
    marks = new Map([...findings].reverse().map((finding) => [finding.line, finding]));
    const said = texts.findingsOf(findings.length);
    if (state.textContent !== said) state.textContent = said;
    fill(
      list,
      ...findings.map(({ severity, line, column, message }) =>
        h(
          "li",
          { className: severity },
          h(
            "button",
            { type: "button", className: "plain", onclick: () => jump(line, column) },
            `${texts.line} ${line}: ${texts.severities[severity] ?? severity}: ${message}`,
          ),
        ),
      ),
    );
    draw();
  }

  const watch = new ResizeObserver(() => draw());
  watch.observe(area);
  return {
    element: h(
      "div",
      { className: "editor" },
      h("label", { htmlFor: id }, label),
      h("div", { className: "editor-body" }, gutter, h("div", { className: "text" }, colours, area)),
      state,
      list,
    ),
    value: () => area.value,
    /** @param {string} text */
    set: (text) => {
      area.value = text;
      draw();
    },
    show,
  };
}

// A unified diff of two texts: what they begin and end with alike, and what differs between.

const AROUND = 3;

/** @param {string} before @param {string} after */
export function linesOf(before, after) {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  if (head === old.length && head === fresh.length) return "";
  const first = Math.max(0, head - AROUND);
  const lead = old.slice(first, head).map((line) => ` ${line}`);
  const removed = old.slice(head, old.length - tail).map((line) => `-${line}`);
  const added = fresh.slice(head, fresh.length - tail).map((line) => `+${line}`);
  const rest = old.slice(old.length - tail, old.length - tail + AROUND).map((line) => ` ${line}`);
  return [`@@ -${first + 1} +${first + 1} @@`, ...lead, ...removed, ...added, ...rest].join("\n");
}

// A unified diff of the server, shown in two columns.

/**
 * @typedef {{kind: "same" | "changed" | "gap", old: [number, string] | null,
 *   new: [number, string] | null}} Line
 */

/**
 * Pair the lines of a unified diff.
 *
 * @param {string} diff
 * @returns {Line[]}
 */
export function pairs(diff) {
  /** @type {Line[]} */
  const lines = [];
  let [oldNumber, newNumber] = [0, 0];
  /** @type {[number, string][]} */
  let removed = [];
  /** @type {[number, string][]} */
  let added = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) {
      lines.push({ kind: "changed", old: removed[i] ?? null, new: added[i] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const text of diff.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (hunk) {
      flush();
      if (lines.length > 0) lines.push({ kind: "gap", old: null, new: null });
      [oldNumber, newNumber] = [Number(hunk[1]), Number(hunk[2])];
    } else if (oldNumber === 0 && newNumber === 0) {
      continue; // the names of both sides stand before the first hunk
    } else if (text.startsWith("-")) {
      removed.push([oldNumber++, text.slice(1)]);
    } else if (text.startsWith("+")) {
      added.push([newNumber++, text.slice(1)]);
    } else if (text.startsWith(" ")) {
      flush();
      const line = text.slice(1);
      lines.push({ kind: "same", old: [oldNumber++, line], new: [newNumber++, line] });
    }
  }
  flush();
  return lines;
}

/**
 * @param {string} diff
 * @param {string} before title of the left side
 * @param {string} after title of the right side
 */
export function sideBySide(diff, before, after) {
  const rows = pairs(diff).map(({ kind, old, new: fresh }) =>
    kind === "gap"
      ? h("tr", { className: "gap" }, h("td", { colSpan: 4 }, "⋯"))
      : h(
          "tr",
          { className: kind },
          ...side(old, kind === "changed" ? "removed" : ""),
          ...side(fresh, kind === "changed" ? "added" : ""),
        ),
  );
  const head = h(
    "tr",
    {},
    h("th", { scope: "col", colSpan: 2 }, before),
    h("th", { scope: "col", colSpan: 2 }, after),
  );
  return h(
    "div",
    { className: "diff", tabIndex: 0, role: "region", "aria-label": texts.changes },
    h(
      "table",
      {},
      h("colgroup", {}, ...["number", "", "number", ""].map((className) => h("col", { className }))),
      h("thead", {}, head),
      h("tbody", {}, ...rows),
    ),
  );
}

/** @param {[number, string] | null} line @param {string} kind */
function side(line, kind) {
  if (line === null) return [h("td", { className: "number" }), h("td", { className: "empty" })];
  const mark = { removed: "−", added: "+" }[kind] ?? " ";
  return [
    h("td", { className: "number" }, line[0]),
    h("td", { className: kind }, h("code", {}, `${mark} ${line[1]}`)),
  ];
}
