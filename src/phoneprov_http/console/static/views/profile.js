/** One profile: its fields, the configuration with the server's findings, its revisions. */

import { ApiError, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { codeEditor } from "../elements/code-editor.js";
import { ask } from "../elements/dialog.js";
import { errorBox } from "../elements/error-box.js";
import { notice } from "../elements/notice.js";
import { recordForm } from "../elements/record-form.js";
import { sideBySide } from "../elements/side-by-side.js";
import { askBeforeLeaving, go } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { SOFTWARE_TYPES } from "./phones.js";

const CHECK_MS = 600;
const EMPTY = "<device>\n</device>\n";

/** @type {import("../elements/record-form.js").Field[]} */
const FIELDS = [
  { name: "name", label: texts.name, isRequired: true },
  { name: "description", label: texts.description, kind: "area" },
  { name: "compatible_models", label: texts.models, kind: "list", hint: texts.modelsHint },
  { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES, empty: texts.any },
];

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], query, signal }) {
  const isNew = uuid === "new";
  const path = `phone-profiles/${encodeURIComponent(uuid)}`;
  const owner = query.get("user") ?? session.me?.uuid;
  const profile = isNew
    ? { name: "", cnf_xml: EMPTY, compatible_models: [], user_uuid: owner }
    : (await api.get(path, signal)).data;
  let saved = profile.cnf_xml;

  /** @type {number | undefined} */
  let timer;
  const editor = codeEditor({
    label: texts.configuration,
    value: profile.cnf_xml,
    changed: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void check(), CHECK_MS);
    },
  });

  async function check() {
    const order = { cnf_xml: editor.value(), software_type: profile.software_type ?? null };
    try {
      const { data } = await api.post("phone-profiles/lint", order, signal);
      editor.show(data.findings);
    } catch (error) {
      if (error instanceof ApiError && error.status === 422) {
        editor.show(error.details.map(located));
      }
    }
  }

  const { form, hasChanges } = recordForm(
    FIELDS,
    profile,
    async (values) => {
      const text = editor.value();
      const order = isNew || text !== saved ? { ...values, cnf_xml: text } : values;
      const reply = isNew
        ? await api.post("phone-profiles", { ...order, user_uuid: profile.user_uuid })
        : await api.put(path, order);
      saved = text;
      return reply;
    },
    {
      changesOnly: !isNew,
      button: isNew ? texts.create : texts.save,
      saved: ({ data }) => {
        if (isNew) go(`/profiles/${data.uuid}`);
        else void drawRevisions();
      },
    },
  );
  form.insertBefore(editor.element, form.lastElementChild);
  askBeforeLeaving(() =>
    hasChanges() || editor.value() !== saved ? texts.discardChanges : null,
  );

  const revisions = h("section");
  async function drawRevisions() {
    const { data } = await api.get(`${path}/revisions`, signal);
    fill(revisions, h("h2", {}, texts.revisions), compare(path, data, signal));
  }

  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, isNew ? texts.newProfile : profile.name),
      !isNew &&
        h("a", { className: "button", href: `#/switch?profile=${profile.uuid}` }, texts.switchPhoneTo),
      !isNew &&
        h("button", { className: "danger", onclick: () => remove(path, profile.name) }, texts.remove),
    ),
    form,
    revisions,
  );
  await Promise.all([check(), isNew ? null : drawRevisions()]);
}

/** A problem of the body as a finding: the message of the server names the line and the column.
 * @param {{field: string, message: string}} problem */
function located({ message }) {
  const at = /line (\d+)(?:,? column (\d+))?/i.exec(message);
  return { severity: "error", line: Number(at?.[1] ?? 1), column: Number(at?.[2] ?? 1), message };
}

/** Choose two revisions and see the difference, which the server computes.
 * @param {string} path @param {any[]} revisions @param {AbortSignal} signal */
function compare(path, revisions, signal) {
  if (revisions.length < 2) return h("p", {}, texts.oneRevision);
  const newest = revisions[revisions.length - 1].number;
  const result = h("div", { "aria-live": "polite" });
  /** @param {string} label @param {number} chosen */
  const choice = (label, chosen) =>
    h(
      "select",
      { "aria-label": label },
      ...revisions.map((one) =>
        h(
          "option",
          { value: String(one.number), selected: one.number === chosen },
          `${one.number}, ${texts.when(one.created_at)}`,
        ),
      ),
    );
  const from = choice(texts.from, Math.max(1, newest - 1));
  const to = choice(texts.to, newest);
  const show = async () => {
    try {
      const query = { from: from.value, to: to.value };
      const { data } = await api.get(withQuery(`${path}/revisions/diff`, query), signal);
      fill(
        result,
        data.diff
          ? sideBySide(data.diff, texts.revisionNumber(data.from), texts.revisionNumber(data.to))
          : h("p", {}, texts.noDifference),
      );
    } catch (error) {
      fill(result, errorBox(error));
    }
  };
  return h(
    "div",
    {},
    h("p", { className: "actions" }, from, to, h("button", { onclick: show }, texts.compare)),
    result,
  );
}

/** @param {string} path @param {string} name */
async function remove(path, name) {
  if (!(await ask(texts.deleteQuestion(name), texts.remove, { isDangerous: true }))) return;
  const { message } = await api.remove(path);
  askBeforeLeaving(() => null);
  notice(message);
  go("/profiles");
}
