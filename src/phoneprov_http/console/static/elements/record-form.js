/** A form for one record: fields with labels, the server's problems beside the fields they name. */

import { fill, h } from "../dom.js";
import { guard, here } from "../navigation.js";
import { texts } from "../texts.js";
import { ApiError } from "../transport.js";
import { line } from "./controls.js";
import { errorBox } from "./error-box.js";
import { notice } from "./notice.js";

/**
 * `save` may answer null: then nothing was sent, and the form stays as it is. `said` is what is
 * shown after saving, the message of the server by default.
 *
 * @typedef {object} Options
 * @property {string} [button]
 * @property {(reply: any) => void} [saved]
 * @property {(reply: any) => string} [said]
 * @property {boolean} [changesOnly]
 */

/**
 * @param {import("../fields.js").Field[]} fields
 * @param {Record<string, any>} record the values shown
 * @param {(values: Record<string, any>) => Promise<{message: string, metadata?: {phones?: string[]}} | null>} save
 * @param {Options} [options]
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
    lines.find((each) => each.isMarked())?.focus();
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
