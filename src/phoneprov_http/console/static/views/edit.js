/** The same change to many records: a preview of each, then the change, then its batch. */

import { api } from "../api.js";
import { count, fill, h } from "../dom.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { badge, errorBox, facts, heading, help, sentences, simpleTable } from "../elements/parts.js";
import { field } from "../fields.js";
import { forgetGuards, keep, kept } from "../navigation.js";
import { texts } from "../texts.js";
import { inWords, labelOf } from "../texts/frame.js";
import { named } from "./audit.js";
import { changeOf } from "./import.js";
import { PROFILES, chosen, numbersIn, numbersOf, phoneTitle, turn } from "./shared.js";

/** @typedef {import("../../types").Edited} Edited */

const MOST_ROWS = 500;
const ORDER = ["refused", "unknown", "changed", "unchanged"];
const WHETHER = /** @type {[string, string][]} */ ([["true", texts.yes], ["false", texts.no]]);
/** @type {Record<string, [string, string]>} the list of each kind */
const LISTS = { phones: ["/phones", texts.phones], users: ["/people", texts.people], extensions: ["/extensions", texts.extensions] };

/** @type {import("../router.js").View} */
export async function editView({ element, parameters: [kind], signal }) {
  // The entry of the history has them still when the page is loaded again.
  if (chosen.keys.length > 0) keep("keys", chosen.keys);
  chosen.keys = [];
  /** @type {string[]} */
  const keys = kept("keys") ?? [];
  const [list, name] = LISTS[kind];
  if (keys.length === 0) {
    fill(element, heading(texts.editTitle(name, 0)), h("p", {}, texts.editNothing, " ", h("a", { href: `#${list}` }, name)));
    return;
  }
  const isPhones = kind === "phones";
  const fields = [
    ...(kind === "extensions"
      ? []
      : [
          field("location", { hint: texts.keptIfEmpty }),
          field("no_location", { label: texts.clearLocation, kind: "checkbox" }),
        ]),
    field("is_active", { choices: WHETHER, empty: texts.noChange }),
    ...(isPhones
      ? [
          field("vendor", { choices: WHETHER, empty: texts.noChange }),
          field("no_default", { label: texts.noDefaultProfile, kind: "checkbox" }),
          field("restart", { label: texts.restartAfter, kind: "checkbox", hint: texts.restartAfterHint }),
        ]
      : []),
  ];
  const profile = picker({
    label: texts.defaultProfile,
    none: texts.noChange,
    isOptional: true,
    path: choices("phone-profiles"),
    ...PROFILES,
    changed: () => outdated(),
  });
  const result = h("div", { "aria-live": "polite" });
  const write = h("button", { type: "button", disabled: true, onclick: () => void act() }, texts.editWrite(0));
  /** @type {import("../../types").EditRequest | null} what the preview was of */
  let order = null;

  function outdated() {
    order = null;
    turn(preview, write, false);
    fill(result);
  }

  /** @param {Record<string, any>} values @returns {Record<string, any>} */
  function changesOf({ location, no_location, is_active, vendor, no_default, restart }) {
    return {
      ...(no_location ? { location: null } : location ? { location } : {}),
      ...(is_active ? { is_active: is_active === "true" } : {}),
      ...(vendor ? { vendor: vendor === "true" } : {}),
      ...(no_default ? { default_profile_uuid: null } : profile.value() ? { default_profile_uuid: profile.value() } : {}),
      ...(restart ? { restart } : {}),
    };
  }

  const { form } = recordForm(
    fields,
    {},
    async (values) => {
      outdated();
      const changes = changesOf(values);
      const reply = await api.post(`edits/${kind}`, { ...changes, records: keys.map((key) => ({ key })), dry_run: true }, signal);
      const { data } = /** @type {{data: Edited}} */ (reply);
      order = /** @type {any} */ ({ ...changes, records: data.records
          .filter(({ outcome }) => outcome !== "refused")
          .map(({ key, version }) => ({ key, version })),
      });
      const number = data.changed || data.restarts;
      fill(write, data.changed > 0 || number === 0 ? texts.editWrite(data.changed) : texts.editRestart(number));
      turn(preview, write, number > 0);
      fill(result, ...(await shown(data, kind, true)));
      return null;
    },
    { button: texts.editPreview },
  );
  const preview = /** @type {HTMLButtonElement} */ (form.querySelector("[type=submit]"));
  form.addEventListener("input", outdated);
  form.querySelector(".actions")?.append(write);
  if (isPhones) form.querySelector("[name=no_default]")?.closest(".field")?.before(profile.element);

  async function act() {
    write.disabled = true;
    try {
      const { data } = await api.post(`edits/${kind}`, order, signal);
      forgetGuards();
      form.remove();
      keep("keys", null);
      fill(result, ...(await shown(data, kind, false)));
    } catch (error) {
      if (!signal.aborted) fill(result, errorBox(error));
    }
  }

  fill(element, heading(texts.editTitle(name, keys.length), help("how-to/import-and-export")), form, result);
  if (isPhones) await profile.ready;
}

/** @param {Edited} data @param {string} kind @param {boolean} isDry */
async function shown(data, kind, isDry) {
  const words = isDry ? texts.wouldBeEdited : texts.editOutcomes;
  const rows = data.records.toSorted((one, other) => ORDER.indexOf(one.outcome) - ORDER.indexOf(other.outcome));
  // An extension is a number.
  const of = kind === "phones" || kind === "users" ? kind : null;
  const numbers = await numbersOf(of ?? "phones", of ? rows.slice(0, MOST_ROWS).map(({ key }) => key) : []);
  const lines = rows.slice(0, MOST_ROWS).map(async ({ key, name, outcome, changes, message }) => [
    kind === "phones"
      ? phoneTitle({ mac: key, name: name === key ? null : name, whose: numbers.get(key) })
      : [name.replace(/ \([0-9a-f-]{36}\)$/, ""), numbersIn({ whose: numbers.get(key) })].filter(Boolean).join(", "),
    badge(outcome, words),
    h(
      "ul",
      { className: "plain" },
      ...(await Promise.all(
        Object.entries(changes ?? {}).map(async ([field, change]) =>
          h("li", {}, `${labelOf(field)}: `, ...changeOf(await named(field, change))),
        ),
      )),
      message && h("li", {}, inWords(message)),
    ),
  ]);
  return [
    h("h2", {}, isDry ? texts.previewTitle : data.written ? texts.editDone : texts.importRefused),
    facts(
      [
        [words.changed, count(data.changed)],
        [words.unchanged, count(data.unchanged)],
        [words.refused, count(data.refused)],
      ],
      "across",
    ),
    data.edit && h("p", {}, h("a", { href: `#/audit?resource=bulk_edit&resource_id=${data.edit}` }, texts.editEntries)),
    data.batch_uuid && h("p", {}, h("a", { href: `#/batches/${data.batch_uuid}` }, texts.editBatch(data.restarts))),
    data.batch_problem && h("p", { className: "state failed", role: "alert" }, texts.editNoBatch, " ", inWords(data.batch_problem)),
    isDry && data.restarts > 0 && h("p", {}, texts.editRestarts(data.restarts)),
    simpleTable(LISTS[kind][1], [texts.name, texts.result, sentences(texts.whatIsWrong)], await Promise.all(lines)),
    rows.length > MOST_ROWS && h("p", {}, texts.moreRows(rows.length - MOST_ROWS)),
  ];
}
