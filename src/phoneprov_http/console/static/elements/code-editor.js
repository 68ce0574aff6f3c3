/** A plain-text editor with line numbers that marks findings at their lines. */

import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

const LINE_PX = 20;

/**
 * @typedef {{severity: string, line: number, column: number, message: string}} Finding
 */

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
  });
  const gutter = h("div", { className: "gutter", "aria-hidden": "true" });
  const list = h("ul", { className: "findings", "aria-label": texts.findings });
  /** @type {Map<number, string>} */
  let marks = new Map();

  function draw() {
    const lines = area.value.split("\n").length;
    const first = Math.floor(area.scrollTop / LINE_PX);
    const last = Math.min(lines, first + Math.ceil(area.clientHeight / LINE_PX) + 1);
    const numbers = [];
    for (let line = first + 1; line <= last; line += 1) {
      const number = h("div", { className: marks.get(line) ?? "" }, line);
      number.style.top = `${(line - 1) * LINE_PX - area.scrollTop}px`;
      numbers.push(number);
    }
    fill(gutter, ...numbers);
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
    marks = new Map([...findings].reverse().map(({ line, severity }) => [line, severity]));
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

  requestAnimationFrame(draw);
  return {
    element: h(
      "div",
      { className: "editor" },
      h("label", { htmlFor: id }, label),
      h("div", { className: "editor-body" }, gutter, area),
      list,
    ),
    value: () => area.value,
    show,
  };
}
