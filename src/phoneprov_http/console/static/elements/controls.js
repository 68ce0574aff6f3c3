/** The controls of a form's fields, and the values they hold. */

import { h, uniqueId } from "../dom.js";
import { texts } from "../texts.js";

/** @typedef {import("../fields.js").Field} Field */
/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

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
