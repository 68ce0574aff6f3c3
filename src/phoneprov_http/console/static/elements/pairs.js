/** Names with texts, as rows that can be added and removed. */

import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

/** @param {{label: string, hint: string, values: Record<string, string>}} options */
export function pairEditor({ label, hint, values }) {
  const id = uniqueId("pairs");
  const rows = h("div", { className: "pairs" });
  /** @param {string} name @param {string} text */
  const row = (name, text) => {
    const element = h(
      "div",
      { className: "pair" },
      h("input", { value: name, "aria-label": texts.valueName, placeholder: texts.valueName, autocomplete: "off" }),
      h("textarea", { value: text, rows: 1, "aria-label": texts.valueText, placeholder: texts.valueText }),
      h(
        "button",
        { type: "button", className: "plain", "aria-label": texts.removeValue, onclick: () => element.remove() },
        "×",
      ),
    );
    return element;
  };
  const add = () => {
    const element = row("", "");
    rows.append(element);
    element.querySelector("input")?.focus();
  };
  fill(rows, ...Object.entries(values).map(([name, text]) => row(name, text)));
  return {
    element: h(
      "div",
      { role: "group", "aria-labelledby": id },
      h("h2", { id }, label),
      h("p", { className: "hint" }, hint),
      rows,
      h("button", { type: "button", onclick: add }, texts.addValue),
    ),
    /** @returns {Record<string, string>} rows without a name are left out */
    value: () =>
      Object.fromEntries(
        [...rows.children]
          .map((one) => [...one.querySelectorAll("input, textarea")].map((field) => /** @type {HTMLInputElement} */ (field).value))
          .filter(([name]) => name.trim() !== "")
          .map(([name, text]) => [name.trim(), text]),
      ),
  };
}
