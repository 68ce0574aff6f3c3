/** A choice from a list that the server searches. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";

const PAUSE_MS = 250;
/** What the paths of pickers ask for. */
export const MOST_CHOICES = 20;

/**
 * `chosen` is the path of the record that is chosen at first, `none` what no choice means.
 *
 * @param {{label: string, chosen?: string, path: (q: string) => string,
 *   option: (row: any) => {value: string, text: string}, isOptional?: boolean, none?: string}} options
 */
export function picker({ label, chosen = "", path, option, isOptional = false, none = texts.none }) {
  const selectId = uniqueId("choice");
  const searchId = uniqueId("filter");
  const select = h("select", { id: selectId, required: !isOptional });
  const problem = h("div");
  /** @type {number | undefined} */
  let timer;
  // Offered once there are more records than choices.
  const find = h("div", { hidden: true });
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
      if (data.length >= MOST_CHOICES) find.hidden = false;
      fill(problem);
    } catch (error) {
      fill(problem, errorBox(error));
    }
  }

  /** @param {any[]} rows */
  function show(rows) {
    const wanted = select.value || (first.length > 0 ? option(first[0]).value : "");
    const choices = new Map(rows.map(option).map(({ value, text }) => [value, text]));
    fill(
      select,
      isOptional && h("option", { value: "" }, none),
      ...[...choices].map(([value, text]) =>
        h("option", { value, selected: value === wanted }, text),
      ),
    );
  }

  async function begin() {
    // The record may be deleted.
    if (chosen) first = await api.get(chosen).then(({ data }) => [data], () => []);
    await load();
  }

  fill(find, h("label", { htmlFor: searchId }, texts.find(label)), search);
  return {
    element: h(
      "div",
      { className: "field picker" },
      find,
      h("label", { htmlFor: selectId }, label),
      select,
      problem,
    ),
    value: () => select.value,
    ready: begin(),
  };
}
