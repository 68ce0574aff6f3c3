/** A new batch: action, phones by filter or list, pace. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { go } from "../router.js";
import { texts } from "../texts.js";
import { SOFTWARE_TYPES } from "./phones.js";

/** @type {import("../elements/record-form.js").Field[]} */
const FIELDS = [
  {
    name: "action",
    label: texts.action,
    isRequired: true,
    choices: [
      ["switch", texts.actions.switch],
      ["restart", texts.actions.restart],
    ],
  },
  { name: "macs", label: texts.macs, kind: "list", hint: texts.macsHint },
  { name: "model", label: texts.model },
  { name: "location", label: texts.location },
  { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES },
  { name: "at_once", label: texts.atOnce, kind: "number" },
  { name: "per_minute", label: texts.perMinute, kind: "number", hint: texts.perMinuteHint },
  { name: "stop_after_failures", label: texts.stopAfter, kind: "number" },
  { name: "wait_minutes", label: texts.waitMinutes, kind: "number" },
];

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  const profile = picker({
    label: texts.profile,
    path: (q) => withQuery("phone-profiles", { q, limit: 20 }),
    option: (one) => ({ value: one.uuid, text: one.name }),
    isOptional: true,
  });
  const record = {
    action: query.get("action") ?? "switch",
    macs: query.get("macs")?.split(",") ?? [],
    at_once: 10,
    stop_after_failures: 25,
    wait_minutes: 60,
  };
  const { form } = recordForm(
    FIELDS,
    record,
    async (values) => {
      const { macs, ...rest } = values;
      /** @type {Record<string, unknown>} */
      const order = { ...rest, ...(macs.length > 0 ? { macs } : {}) };
      if (profile.value() && order.action === "switch") order.profile_uuid = profile.value();
      if (!(await ask(texts.startBatchQuestion, texts.startBatch))) {
        throw new Error(texts.notStarted);
      }
      return api.post("batches", order);
    },
    { button: texts.startBatch, saved: ({ data }) => go(`/batches/${data.uuid}`) },
  );
  form.prepend(profile.element);
  fill(element, h("h1", {}, texts.newBatch), h("p", {}, texts.newBatchHint), form);
  await profile.ready;
}
