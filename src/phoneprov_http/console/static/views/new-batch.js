/** A new batch: action, phones by filter or list, pace. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { MOST_CHOICES, picker } from "../elements/picker.js";
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
  { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES, empty: texts.any },
  { name: "at_once", label: texts.atOnce, kind: "number" },
  { name: "per_minute", label: texts.perMinute, kind: "number", hint: texts.perMinuteHint },
  { name: "stop_after_failures", label: texts.stopAfter, kind: "number" },
  { name: "wait_minutes", label: texts.waitMinutes, kind: "number" },
];

const PAGE = 1000;

/** The batch whose failed phones are tried again, and those phones.
 * @param {string} uuid @param {AbortSignal} signal */
async function failedOf(uuid, signal) {
  const path = `batches/${encodeURIComponent(uuid)}`;
  const { data: batch } = await api.get(path, signal);
  /** @type {string[]} */
  const macs = [];
  for (let isMore = true; isMore; ) {
    const page = { state: "failed", limit: PAGE, offset: macs.length };
    const { data } = await api.get(withQuery(`${path}/phones`, page), signal);
    macs.push(...data.map((/** @type {any} */ one) => one.mac));
    isMore = data.length === PAGE;
  }
  return { ...batch, macs };
}

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  const repeated = query.has("repeat") ? await failedOf(query.get("repeat") ?? "", signal) : null;
  const profile = picker({
    label: texts.profile,
    none: texts.profileOnPhone,
    chosen: repeated?.profile_uuid ? `phone-profiles/${repeated.profile_uuid}` : "",
    path: (q) => withQuery("phone-profiles", { q, limit: MOST_CHOICES }),
    option: (one) => ({ value: one.uuid, text: one.name }),
    isOptional: true,
  });
  const record = {
    action: "switch",
    at_once: 10,
    stop_after_failures: 25,
    wait_minutes: 60,
    ...repeated,
    // These selected the phones of the repeated batch.
    model: null,
    location: null,
    software_type: null,
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
