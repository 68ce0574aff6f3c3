/** A dialog that creates, changes or deletes one record. */

import { api } from "../api.js";
import { h } from "../dom.js";
import { texts } from "../texts.js";
import { show } from "./dialog.js";
import { auditLink } from "./heading.js";
import { recordForm } from "./record-form.js";
import { removed } from "./removal.js";

/**
 * `path` is the list's for a new record, otherwise the record's own; `record` is null for a new
 * one, which begins with the values `initial`; `name` says what it is in messages;
 * `after` stands below the form.
 *
 * @param {{title: string, path: string, fields: import("../fields.js").Field[], record: any,
 *   initial?: Record<string, any>, name?: (record: any) => string, changed: (record: any) => void, after?: Node}} options
 */
export function recordDialog({ title, path, fields, record, initial, name, changed, after }) {
  const named = (/** @type {any} */ one) => name?.(one) ?? one?.name ?? title;
  /** @param {() => void} close */
  const content = (close) => {
    /** @param {any} data */
    const done = (data) => {
      close();
      changed(data);
    };
    const { form } = recordForm(
      fields,
      record ?? initial ?? { is_active: true },
      (values) => (record ? api.put(path, values) : api.post(path, values)),
      {
        changesOnly: record !== null,
        saved: ({ data }) => done(data),
        said: ({ data }) => (record ? texts.saved : texts.created)(named(data)),
        button: record ? texts.save : texts.create,
      },
    );
    const remove = async () => {
      if (await removed(path, named(record))) done(null);
    };
    if (record) {
      form.lastElementChild?.append(
        h("button", { type: "button", className: "danger", onclick: remove }, texts.remove),
        auditLink(record.uuid) || "",
      );
    }
    return after ? h("div", {}, form, after) : form;
  };
  void show(title, content);
}
