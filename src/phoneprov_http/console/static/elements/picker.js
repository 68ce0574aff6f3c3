/** A choice from a list that the server searches. Nothing is chosen at first. */

import { api, withQuery } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";

const PAUSE_MS = 250;
const MOST_CHOICES = 50;

/** The path of a list of choices: in their order, or the best match first.
 * @param {string} path @param {string} [sort] @param {Record<string, string>} [filters] */
export const choices = (path, sort = "name", filters = {}) => (/** @type {string} */ q) =>
  withQuery(path, { ...filters, q, limit: MOST_CHOICES, sort: q ? "" : sort });

/**
 * `chosen` is the path of the record that is chosen at first, `none` what no choice means.
 *
 * @param {{label: string, chosen?: string, path: (q: string) => string,
 *   option: (row: any) => {value: string, text: string}, isOptional?: boolean, none?: string,
 *   changed?: () => void}} options
 */
export function picker(options) {
  const { label, chosen = "", path, option, isOptional = false, none, changed } = options;
  const selectId = uniqueId("choice");
  const searchId = uniqueId("filter");
  const hintId = uniqueId("hint");
  const hint = h("p", { id: hintId, className: "hint problem" });
  const select = h("select", {
    id: selectId,
    required: !isOptional,
    "aria-describedby": hintId,
    onchange: () => {
      mark("");
      changed?.();
    },
  });
  const problem = h("div");
  /** @type {number | undefined} */
  let timer;
  // Offered once there are more records than choices.
  const find = h("div", { className: "find", hidden: true });
  const search = h("input", {
    id: searchId,
    type: "search",
    autocomplete: "off",
    placeholder: texts.search,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), PAUSE_MS);
    },
  });
  /** @type {any[]} the record that was chosen at first */
  let first = [];
  /** @type {Map<string, any>} */
  const rows = new Map();

  async function load() {
    const q = search.value.trim();
    try {
      const { data } = await api.get(path(q));
      if (q !== search.value.trim()) return; // a later search is on its way
      const kept = rows.get(select.value);
      show(q ? [...(kept ? [kept] : []), ...data] : [...first, ...(kept ? [kept] : []), ...data]);
      if (data.length >= MOST_CHOICES) find.hidden = false;
      fill(problem);
    } catch (error) {
      fill(problem, errorBox(error));
    }
  }

  /** @param {any[]} shown */
  function show(shown) {
    const wanted = select.value || (first.length > 0 ? option(first[0]).value : "");
    for (const row of shown) rows.set(option(row).value, row);
    const choices = new Map(shown.map(option).map(({ value, text }) => [value, text]));
    fill(
      select,
      h("option", { value: "" }, none ?? (isOptional ? texts.none : texts.choose)),
      ...[...choices].map(([value, text]) =>
        h("option", { value, selected: value === wanted }, text),
      ),
    );
  }

  async function begin() {
    // The record may be deleted.
    if (chosen) first = await api.get(chosen).then(({ data }) => [data], () => []);
    await load();
    if (chosen) changed?.();
  }

  /** @param {string} message */
  function mark(message) {
    hint.textContent = message;
    select.setAttribute("aria-invalid", String(message !== ""));
  }

  fill(find, h("label", { className: "hidden", htmlFor: searchId }, texts.find(label)), search);
  return {
    element: h(
      "div",
      { className: "field picker" },
      h("label", { htmlFor: selectId }, label),
      find,
      select,
      hint,
      problem,
    ),
    value: () => select.value,
    /** The record that is chosen. */
    row: () => rows.get(select.value) ?? null,
    text: () => select.selectedOptions[0]?.textContent ?? "",
    /** Whether something is chosen; otherwise the field says that it is missing. */
    isChosen() {
      if (isOptional || select.value) return true;
      mark(texts.chooseFirst(label));
      select.focus();
      return false;
    },
    ready: begin(),
  };
}
