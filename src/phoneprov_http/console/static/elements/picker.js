/** A choice from a list that the server searches. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";

const PAUSE_MS = 250;

/**
 * `chosen` is the path of the record that is chosen at first.
 *
 * @param {{label: string, chosen?: string, path: (q: string) => string,
 *   option: (row: any) => {value: string, text: string}, isOptional?: boolean}} options
 */
export function picker({ label, chosen = "", path, option, isOptional = false }) {
  const selectId = uniqueId("choice");
  const searchId = uniqueId("filter");
  const select = h("select", { id: selectId, required: !isOptional });
  const problem = h("div");
  /** @type {number | undefined} */
  let timer;
  const search = h("input", {
    id: searchId,
    type: "search",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), PAUSE_MS);
    },
  });
  /** @type {any[]} the record that was chosen at first */
  let first = [];

  async function load() {
    const q = search.value.trim();
    try {
      const { data } = await api.get(path(q));
      if (q !== search.value.trim()) return; // a later search is on its way
      show(q ? data : [...first, ...data]);
      fill(problem);
    } catch (error) {
      fill(problem, errorBox(error));
    }
  }

  /** @param {any[]} rows */
  function show(rows) {
    const before = select.value;
    const choices = new Map(rows.map(option).map(({ value, text }) => [value, text]));
    fill(
      select,
      isOptional && h("option", { value: "" }, texts.none),
      ...[...choices].map(([value, text]) =>
        h("option", { value, selected: value === before }, text),
      ),
    );
  }

  async function begin() {
    if (chosen) first = [(await api.get(chosen)).data];
    await load();
  }

  return {
    element: h(
      "div",
      { className: "field picker" },
      h("label", { htmlFor: searchId }, `${texts.search}: ${label}`),
      search,
      h("label", { htmlFor: selectId }, label),
      select,
      problem,
    ),
    value: () => select.value,
    ready: begin(),
  };
}
