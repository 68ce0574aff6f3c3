/** A search field and filters above a list. Changes are announced after a short pause. */

import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 250;

/**
 * `suggest` finds values for what was typed.
 *
 * @typedef {{name: string, label: string, choices?: [string, string][],
 *   suggest?: (typed: string) => Promise<string[]>}} Filter
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
  function labelled({ name, label, choices, suggest }) {
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
      : h("input", { id, name, value, type: "search", autocomplete: "off", oninput: announce });
    fields.set(name, field);
    const suggestions = suggest && suggested(field, suggest);
    return h("div", { className: "field" }, h("label", { htmlFor: id }, label), field, suggestions);
  }

  const element = h(
    "form",
    { className: "search", role: "search", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    ...[{ name: "q", label: texts.search }, ...filters].map(labelled),
  );
  return { element, values };
}

/**
 * The list of values that the browser offers below a field.
 *
 * @param {HTMLElement} field
 * @param {(typed: string) => Promise<string[]>} suggest
 */
function suggested(field, suggest) {
  const list = h("datalist", { id: uniqueId("suggestions") });
  field.setAttribute("list", list.id);
  /** @type {number | undefined} */
  let timer;
  const load = async () => {
    const values = await suggest(/** @type {HTMLInputElement} */ (field).value.trim());
    fill(list, ...values.map((value) => h("option", { value })));
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), PAUSE_MS);
  };
  field.addEventListener("input", soon);
  field.addEventListener("focus", soon, { once: true });
  return list;
}
