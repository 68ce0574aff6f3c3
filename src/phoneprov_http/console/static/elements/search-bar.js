/** A search field and filters above a list. Changes are announced after a short pause. */

import { h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 250;

/**
 * @typedef {{name: string, label: string, choices?: [string, string][]}} Filter
 */

/**
 * @param {Filter[]} filters
 * @param {URLSearchParams} initial
 * @param {(values: Record<string, string>) => void} changed
 */
export function searchBar(filters, initial, changed) {
  /** @type {number | undefined} */
  let timer;
  /** @type {Map<string, HTMLInputElement | HTMLSelectElement>} */
  const fields = new Map();
  const announce = () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed(values()), PAUSE_MS);
  };
  const values = () =>
    Object.fromEntries([...fields].map(([name, field]) => [name, field.value.trim()]));

  /** @param {Filter} filter */
  function labelled({ name, label, choices }) {
    const id = uniqueId(name);
    const value = initial.get(name) ?? "";
    const field = choices
      ? h(
          "select",
          { id, name, onchange: announce },
          ...[/** @type {[string, string]} */ (["", texts.any]), ...choices].map(([key, text]) =>
            h("option", { value: key, selected: key === value }, text),
          ),
        )
      : h("input", { id, name, value, type: "search", oninput: announce });
    fields.set(name, field);
    return h("div", { className: "field" }, h("label", { htmlFor: id }, label), field);
  }

  const element = h(
    "form",
    { className: "search", role: "search", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    ...[{ name: "q", label: texts.search }, ...filters].map(labelled),
  );
  return { element, values };
}
