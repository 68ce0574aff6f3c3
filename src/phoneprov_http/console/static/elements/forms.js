/** Forms, their fields, and pickers of records. */

import { ApiError, api, withQuery } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { guard, here } from "../navigation.js";
import { texts } from "../texts.js";
import { errorBox, notice } from "./parts.js";

/** @typedef {import("../fields.js").Field} Field */
/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

// The controls of a form's fields, and the values they hold.

/** One field with its label, its hint and the problem that the server finds in it.
 * @param {Field} field @param {any} value */
export function line(field, value) {
  const id = uniqueId(field.name);
  const hintId = `${id}-hint`;
  const input = control(field, value, id);
  const hint = h("p", { id: hintId, className: "hint" }, field.hint ?? "");
  const label = h(
    "label",
    { htmlFor: id },
    field.label,
    field.isRequired && h("span", { className: "required" }, ` (${texts.required})`),
  );
  input.setAttribute("aria-describedby", hintId);
  return {
    field,
    element: h("div", { className: `field ${field.kind ?? "text"}` }, label, input, hint),
    value: () => valueOf(field, input),
    /** @param {string} message */
    mark(message) {
      hint.textContent = message ? `${field.label} ${message}` : (field.hint ?? "");
      hint.classList.toggle("problem", message !== "");
      input.setAttribute("aria-invalid", String(message !== ""));
    },
    clear: () => {
      input.value = "";
    },
    isMarked: () => input.getAttribute("aria-invalid") === "true",
    focus: () => input.focus(),
  };
}

/** @param {Field} field @param {any} value @param {string} id @returns {Control} */
function control(field, value, id) {
  const common = { id, name: field.name, required: field.isRequired ?? false };
  if (field.choices) {
    const empty = /** @type {[string, string]} */ (["", field.empty ?? texts.none]);
    const choices = field.isRequired ? field.choices : [empty, ...field.choices];
    return h(
      "select",
      common,
      ...choices.map(([key, text]) =>
        h("option", { value: key, selected: key === (value ?? "") }, text),
      ),
    );
  }
  if (field.kind === "area") return h("textarea", { ...common, rows: 3, value: value ?? "" });
  if (field.kind === "checkbox") {
    return h("input", { ...common, required: false, type: "checkbox", checked: value ?? false });
  }
  const type = field.kind === "list" ? "text" : (field.kind ?? "text");
  return h("input", {
    ...common,
    type,
    autocomplete: field.autocomplete ?? "off",
    value: Array.isArray(value) ? value.join(", ") : (value ?? ""),
  });
}

/** @param {Field} field @param {Control} input */
function valueOf(field, input) {
  if (field.kind === "checkbox") return /** @type {HTMLInputElement} */ (input).checked;
  if (field.kind === "list") return listed(input.value);
  if (input.value === "") return field.isRequired ? "" : null;
  if (field.kind === "number") return Number(input.value);
  return input.value;
}

/** The parts of a text between commas and line ends. @param {string} text */
export function listed(text) {
  return text
    .split(/[,;\n\t]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

// A form for one record: fields with labels, the server's problems beside the fields they name.

/**
 * `save` may answer null: then nothing was sent, and the form stays as it is. `said` is what is
 * shown after saving, the message of the server by default.
 *
 * @typedef {object} Options
 * @property {string} [button]
 * @property {(reply: any) => void} [saved]
 * @property {(reply: any) => string} [said]
 * @property {boolean} [changesOnly]
 * @property {boolean} [isSecond] whether the page has another form that comes first
 */

/**
 * @param {import("../fields.js").Field[]} fields
 * @param {Record<string, any>} record the values shown
 * @param {(values: Record<string, any>) => Promise<{message: string, metadata?: {phones?: string[]}} | null>} save
 * @param {Options} [options]
 */
export function recordForm(fields, record, save, options = {}) {
  const problem = h("div");
  const button = h("button", { type: "submit", className: options.isSecond ? "" : "primary" }, options.button ?? texts.save);
  const lines = fields.map((field) => line(field, record[field.name]));
  let before = read();

  function read() {
    return Object.fromEntries(lines.map(({ field, value }) => [field.name, value()]));
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    const now = read();
    const sent = options.changesOnly
      ? Object.fromEntries(Object.entries(now).filter(([name, v]) => !same(v, before[name])))
      : Object.fromEntries(Object.entries(now).filter(([, value]) => value !== null));
    fill(problem);
    for (const each of lines) each.mark("");
    button.disabled = true;
    try {
      const reply = await save(sent);
      if (reply === null) return;
      for (const { field, clear } of lines) if (field.kind === "password") clear();
      before = read();
      const shown = reply.metadata?.phones?.length ?? 0;
      notice([options.said ? options.said(reply) : reply.message, shown && texts.shownLater(shown)].filter(Boolean).join(" "));
      // Who has left the view is not brought back by its answer.
      if (isHere()) options.saved?.(reply);
    } catch (error) {
      show(error);
    } finally {
      button.disabled = false;
    }
  }

  /** @param {unknown} error */
  function show(error) {
    const own = (/** @type {string} */ name) => lines.some(({ field }) => field.name === name);
    fill(problem, errorBox(error, own));
    if (!(error instanceof ApiError)) return;
    for (const { field, message } of error.details) {
      lines.find((each) => each.field.name === field)?.mark(message);
    }
    const marked = lines.filter((each) => each.isMarked());
    for (const { element } of marked) element.closest("details")?.setAttribute("open", "");
    marked[0]?.focus();
  }

  const isHere = here();
  const form = h(
    "form",
    { className: "record", noValidate: true, onsubmit: submit },
    problem,
    ...lines.map(({ element }) => element),
    h("div", { className: "actions" }, button),
  );
  guard(() => form.isConnected && !same(read(), before));
  return { form, values: read, show };
}

/** @param {unknown} one @param {unknown} other */
function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

// A choice from a list that the server searches. Nothing is chosen at first.

const PAUSE_MS = 250;
export const MOST_CHOICES = 50;

/** The path of a list of choices: in their order, or the best match first.
 * @param {string} path @param {string} [sort] @param {Record<string, string>} [filters] */
export const choices = (path, sort = "name", filters = {}) => (/** @type {string} */ q) =>
  withQuery(path, { ...filters, q, limit: MOST_CHOICES, sort: q ? "" : sort });

/**
 * `chosen` is the path of the record that is chosen at first, `none` what no choice means; `rows` adds to the
 * records what `option` shows of them. Instead of a `path` it may be the records.
 *
 * @param {{label: string, chosen?: string, path: (q: string) => string | Promise<any[]>,
 *   option: (row: any) => {value: string, text: string}, isOptional?: boolean, none?: string,
 *   rows?: (found: any[]) => Promise<any[]>,
 *   changed?: () => void}} options
 */
export function picker(options) {
  const { label, chosen = "", path, option, isOptional = false, none, changed, rows: seen = async (found) => found } = options;
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

  let turn = 0;
  async function load() {
    const q = search.value.trim();
    const own = (turn += 1);
    try {
      const found = path(q);
      const data = await seen(typeof found === "string" ? (await api.get(found)).data : await found);
      if (own !== turn) return; // a later search is on its way
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
    if (chosen) first = await api.get(chosen).then(({ data }) => seen([data]), () => []);
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
    /** Choose nothing. */
    clear: () => (select.value = ""),
    /** Offer what `path` is now; nothing is chosen. */
    reload() {
      rows.clear();
      select.value = "";
      return load();
    },
    ready: begin(),
  };
}
