/** A form for one record: fields with labels, the server's problems beside the fields they name. */

import { ApiError } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";
import { errorBox } from "./error-box.js";
import { notice } from "./notice.js";

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {"text" | "password" | "number" | "email" | "checkbox" | "area" | "list"} [kind]
 * @property {boolean} [isRequired]
 * @property {[string, string][]} [choices]
 * @property {string} [empty] what no choice means
 * @property {string} [hint]
 * @property {string} [autocomplete]
 */

/**
 * @param {Field[]} fields
 * @param {Record<string, any>} record the values shown
 * @param {(values: Record<string, any>) => Promise<{message: string}>} save
 * @param {{button?: string, saved?: (reply: any) => void, changesOnly?: boolean}} [options]
 */
export function recordForm(fields, record, save, options = {}) {
  const problem = h("div");
  const button = h("button", { type: "submit", className: "primary" }, options.button ?? texts.save);
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
      before = now;
      for (const { field, clear } of lines) if (field.kind === "password") clear();
      notice(reply.message);
      options.saved?.(reply);
    } catch (error) {
      fill(problem, errorBox(error));
      if (error instanceof ApiError) {
        for (const { field, message } of error.details) {
          lines.find((each) => each.field.name === field)?.mark(message);
        }
        lines.find((each) => each.isMarked())?.focus();
      }
    } finally {
      button.disabled = false;
    }
  }

  const form = h(
    "form",
    { className: "record", noValidate: true, onsubmit: submit },
    problem,
    ...lines.map(({ element }) => element),
    h("div", { className: "actions" }, button),
  );
  return { form, hasChanges: () => !same(read(), before) };
}

/** @param {unknown} one @param {unknown} other */
function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** @param {Field} field @param {any} value */
function line(field, value) {
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
      hint.textContent = message || field.hint || "";
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

/** @param {Field} field @param {any} value @param {string} id */
function control(field, value, id) {
  const common = { id, name: field.name, required: field.isRequired ?? false };
  if (field.choices) {
    const empty = /** @type {[string, string]} */ (["", field.empty ?? texts.none]);
    const choices = field.isRequired ? field.choices : [empty, ...field.choices];
    return h(
      "select",
      common,
      ...choices.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
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

/**
 * @param {Field} field
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 */
function valueOf(field, input) {
  if (field.kind === "checkbox") return /** @type {HTMLInputElement} */ (input).checked;
  if (field.kind === "list") return input.value.split(",").map((s) => s.trim()).filter(Boolean);
  if (input.value === "") return field.isRequired ? "" : null;
  if (field.kind === "number") return Number(input.value);
  return input.value;
}
