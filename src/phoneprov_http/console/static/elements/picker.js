/** A choice from a list that the server searches. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 250;

/**
 * @param {{label: string, value: string, path: (q: string) => string,
 *   option: (row: any) => {value: string, text: string}, isOptional?: boolean}} options
 */
export function picker({ label, value, path, option, isOptional = false }) {
  const selectId = uniqueId("choice");
  const searchId = uniqueId("filter");
  const select = h("select", { id: selectId, required: !isOptional });
  /** @type {number | undefined} */
  let timer;
  const search = h("input", {
    id: searchId,
    type: "search",
    value,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(search.value.trim()), PAUSE_MS);
    },
  });

  /** @param {string} q */
  async function load(q) {
    const { data } = await api.get(path(q));
    const chosen = select.value || value;
    fill(
      select,
      isOptional && h("option", { value: "" }, texts.none),
      ...data.map((/** @type {any} */ row) => {
        const { value: key, text } = option(row);
        return h("option", { value: key, selected: key === chosen }, text);
      }),
    );
  }

  return {
    element: h(
      "div",
      { className: "field picker" },
      h("label", { htmlFor: searchId }, `${texts.search}: ${label}`),
      search,
      h("label", { htmlFor: selectId }, label),
      select,
    ),
    value: () => select.value,
    ready: load(value),
  };
}
