/** An editor for XML with line numbers and highlighting; findings stand at their lines. */

import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";
import { highlighted } from "./highlight.js";

const LINE_PX = 20;
const INDENT = "  ";

/** @typedef {import("../../types").Finding} Finding */

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
