/** A dialog that creates, changes or deletes one record. */

import { api } from "../api.js";
import { h } from "../dom.js";
import { texts } from "../texts.js";
import { ask, show } from "./dialog.js";
import { notice } from "./notice.js";
import { recordForm } from "./record-form.js";

/**
 * `path` is the list's for a new record, otherwise the record's own.
 *
 * @param {{title: string, path: string, fields: import("./record-form.js").Field[],
 *   record: any, changed: () => void}} options `record`: null for a new one
 */
export function recordDialog({ title, path, fields, record, changed }) {
  void show(title, (close) => {
    const done = () => {
      close();
      changed();
    };
    const { form } = recordForm(
      fields,
      record ?? { is_active: true },
      (values) => (record ? api.put(path, values) : api.post(path, values)),
      { changesOnly: record !== null, saved: done, button: record ? texts.save : texts.create },
    );
    const remove = async () => {
      if (!(await ask(texts.deleteQuestion(title), texts.remove, { isDangerous: true }))) return;
      try {
        notice((await api.remove(path)).message);
        done();
      } catch (error) {
        notice(error instanceof Error ? error.message : String(error), "failed");
      }
    };
    if (record) {
      form.lastElementChild?.append(
        h("button", { type: "button", className: "danger", onclick: remove }, texts.remove),
      );
    }
    return form;
  });
}
