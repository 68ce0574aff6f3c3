/** Configuration templates, and one template. */

import { ApiError, api, withQuery } from "../api.js";
import { ago, fill, h } from "../dom.js";
import { codeEditor } from "../elements/code.js";
import { dataList } from "../elements/data-list.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import {
  ask,
  auditLink,
  badge,
  errorBox,
  heading,
  help,
  messageOf,
  notice,
  sentences,
  simpleTable,
} from "../elements/parts.js";
import { removed, tabs } from "../elements/records.js";
import { TEMPLATE } from "../fields.js";
import { forgetGuards, go, guard, readdress } from "../navigation.js";
import { texts } from "../texts.js";
import { planned } from "./batches.js";
import { conflictBox, revisionsPart } from "./profile-parts.js";
import { PHONES, PROFILES, phoneNames } from "./shared.js";

/** @typedef {import("../../types").Template} Template */

// Templates of configurations: each variant is for a model and a firmware family.

/** @type {import("../router.js").View} */
export async function templatesView({ element }) {
  const list = /** @type {import("../elements/data-list.js").DataList<Template>} */ (dataList());
  element.classList.add("with-list");
  const add = h("a", { className: "button primary", href: "#/templates/new" }, texts.newTemplate);
  fill(element, heading(texts.templates, add, help("reference/templates")), h("p", { className: "quiet" }, texts.templatesHint), list);
  /** @type {import("../elements/data-list.js").Column<Template>[]} */
  const columns = [
    { title: texts.name, sort: "name", cell: (one) => one.name },
    { title: texts.model, sort: "model", cell: (one) => one.model ?? texts.any, width: "8rem" },
    { title: texts.softwareType, sort: "software_type", cell: (one) => one.software_type ?? texts.any, isOptional: true, width: "9rem" },
    { title: texts.description, sort: "description", cell: (one) => one.description, isOptional: true },
    { title: texts.shared, sort: "shared", cell: (one) => (one.shared ? texts.yes : texts.no), isOptional: true, width: "10rem" },
    { title: texts.revision, sort: "revision", cell: (one) => String(one.revision), isOptional: true, width: "6rem" },
    {
      title: texts.changed,
      sort: "updated_at",
      cell: (one) => ago(one.updated_at),
      text: (one) => one.updated_at,
      isOptional: true,
      width: "10rem",
    },
  ];
  await list.configure({
    caption: texts.templates,
    name: "templates",
    path: () => "configuration-templates",
    isSortedHere: true,
    columns,
    href: (one) => `#/templates/${one.uuid}`,
    empty: () => texts.noTemplates,
  });
}

/** A variant as people name it. @param {Template} template */
function variantTitle({ name, model, software_type: family }) {
  const kinds = [model, family].filter(Boolean).join(", ");
  return kinds ? `${name} (${kinds})` : name;
}

// One variant of a template: its fields, and its text with the findings of the server.

const CHECK_MS = 600;
const EMPTY = "<device>\n  <name>{{ phone.name }}</name>\n</device>\n";

/** @type {import("../router.js").View} */
export async function templateView({ element, parameters: [uuid], query, signal }) {
  const isNew = uuid === "new";
  const list = "configuration-templates";
  const path = `${list}/${encodeURIComponent(uuid)}`;
  /** @param {string} of */
  const stored = async (of) => /** @type {Template} */ ((await api.get(of, signal)).data);
  const from = query.get("from");
  const template = isNew
    ? from
      ? { ...(await stored(`${list}/${from}`)), model: "", software_type: null }
      : /** @type {any} */ ({ name: "", body: EMPTY })
    : await stored(path);
  let saved = isNew && from ? "" : template.body;
  let { revision } = template;
  const conflict = h("div", { "aria-live": "polite" });

  /** @type {number | undefined} */
  let timer;
  const editor = codeEditor({
    label: texts.templateText,
    value: template.body,
    changed: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void Promise.all([check(), trial?.show()]), CHECK_MS);
    },
  });

  async function check() {
    const body = editor.value();
    try {
      const { data } = await api.post(`${list}/check`, { body }, signal);
      if (body === editor.value()) editor.show(data.findings);
    } catch (error) {
      if (!signal.aborted) notice(messageOf(error), "failed");
    }
  }

  const typed = () => (editor.value() === saved ? {} : { body: editor.value() });
  const trial = isNew ? null : trialPart(path, typed, signal);
  const changing = isNew ? null : changingPart(path, typed, signal);
  const { form } = recordForm(TEMPLATE, template, save, {
    changesOnly: !isNew,
    button: isNew ? texts.create : texts.save,
    said: ({ data }) => (isNew ? texts.created : texts.saved)(variantTitle(data)),
    saved: ({ data }) => {
      if (!isNew) return;
      forgetGuards();
      go(`/templates/${data.uuid}`);
    },
  });

  /** @param {Record<string, any>} fields */
  async function save(fields) {
    const body = editor.value();
    fill(conflict);
    try {
      const order = body === saved ? fields : { ...fields, body };
      const reply = isNew ? await api.post(list, { ...fields, body }) : await api.put(path, { ...order, revision });
      saved = body;
      revision = reply.data.revision;
      void trial?.show();
      return reply;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "changed_meanwhile") throw error;
      const now = await stored(path);
      const overwrite = () => {
        revision = now.revision;
        form.requestSubmit();
      };
      fill(conflict, conflictBox(now.body, body, overwrite));
      return null;
    }
  }

  form.querySelector(".actions")?.before(conflict);
  if (changing) form.querySelector(".actions")?.append(changing.button);
  guard(() => form.isConnected && editor.value() !== saved);
  const others = isNew ? [] : (await api.get(withQuery(list, { name: template.name }), signal)).data;
  if (trial) form.append(...trial.elements);
  const edited = h("div", { className: "profile" }, form, editor.element, changing?.result, trial?.result);
  await trial?.ready;
  element.classList.add("wide");
  fill(
    element,
    heading(
      isNew ? texts.newTemplate : variantTitle(template),
      !isNew && h("a", { className: "button", href: `#/templates/new?from=${uuid}` }, texts.newVariant),
      !isNew && h("button", { className: "danger", onclick: () => remove(path, template) }, texts.remove),
      !isNew && auditLink(uuid),
      help("reference/templates"),
    ),
    others.length > 1 &&
      h(
        "p",
        { className: "quiet" },
        texts.otherVariants,
        ...others
          .filter((/** @type {Template} */ one) => one.uuid !== uuid)
          .flatMap((/** @type {Template} */ one) => [" ", h("a", { href: `#/templates/${one.uuid}` }, variantTitle(one))]),
      ),
    isNew
      ? edited
      : tabs(
          texts.templateParts,
          [
            { name: "edit", title: texts.edit, show: (panel) => panel.append(edited) },
            {
              name: "revisions",
              title: texts.revisions,
              isAnew: true,
              show: (panel) => revisionsPart(panel, path, signal, { from: Number(query.get("from")), to: Number(query.get("to")), restored }),
            },
          ],
          query.get("tab") ?? "edit",
          (name) => {
            const shown = name === "edit" ? {} : { tab: name, from: query.get("from"), to: query.get("to") };
            readdress(withQuery(`/templates/${uuid}`, shown));
          },
        ),
  );
  await check();

  /** An earlier text becomes the newest revision. @param {number} number */
  async function restored(number) {
    const details = h("p", {}, editor.value() === saved ? texts.restoreHint : texts.restoreLosesTyped);
    if (!(await ask(texts.restoreQuestion(number, revision + 1), texts.restore, { details }))) return;
    try {
      const { body } = (await api.get(withQuery(`${path}/revisions/text`, { number }), signal)).data;
      const { data } = await api.put(path, { body, revision });
      notice(texts.restored(number, data.revision));
      forgetGuards();
      go(`/templates/${uuid}?tab=revisions&to=${data.revision}`);
    } catch (error) {
      if (!signal.aborted) notice(messageOf(error), "failed");
    }
  }
}

/**
 * Which phones would get another file from the text as it is typed.
 *
 * @param {string} path @param {() => {body?: string}} typed @param {AbortSignal} signal
 */
function changingPart(path, typed, signal) {
  const result = h("div", { className: "preview", "aria-live": "polite" });
  const button = h("button", { type: "button", onclick: () => void show() }, texts.whichChange);
  async function show() {
    button.disabled = true;
    fill(result, h("p", {}, texts.loading));
    const unsaved = typed();
    try {
      const { data } = await api.post(`${path}/plan`, unsaved, signal);
      const macs = [...data.groups, ...data.problems].flatMap((one) => one.macs);
      const hint = "body" in unsaved ? texts.changeOfTyped : texts.changeOfStored;
      fill(result, ...planned(data, await phoneNames(macs, signal)), h("p", { className: "hint" }, hint));
    } catch (error) {
      const isNone = error instanceof ApiError && error.code === "no_phones";
      if (!signal.aborted) fill(result, isNone ? h("p", {}, error.message) : errorBox(error));
    } finally {
      button.disabled = false;
    }
  }
  return { button, result };
}

/** @param {string} path @param {Template} template */
async function remove(path, template) {
  const title = variantTitle(template);
  const details = h("p", {}, texts.deleteProfileHint);
  if (!(await removed(path, title, { details }))) return;
  forgetGuards();
  go("/templates");
}

/**
 * What a profile gives for a phone with the text that is typed, while it is typed.
 *
 * @param {string} path
 * @param {() => {body?: string}} typed what is not saved yet, empty without it
 * @param {AbortSignal} signal
 */
function trialPart(path, typed, signal) {
  const result = h("div", { className: "preview", "aria-live": "polite" });
  const profile = picker({
    label: texts.profile,
    path: choices("phone-profiles"),
    ...PROFILES,
    changed: () => void show(),
  });
  const phone = picker({
    label: texts.phone,
    path: choices("phones"),
    ...PHONES,
    changed: () => void show(),
  });
  /** @type {AbortController | null} */
  let running = null;
  async function show() {
    running?.abort();
    if (!profile.value() || !phone.value()) return;
    const { signal: own } = (running = new AbortController());
    const unsaved = typed();
    try {
      const order = { profile_uuid: profile.value(), mac: phone.value(), ...unsaved };
      const { data } = await api.post(`${path}/render`, order, AbortSignal.any([signal, own]));
      fill(result, "body" in unsaved && h("p", { className: "state wait" }, texts.tryOfTyped), ...rendered(data));
    } catch (error) {
      if (!signal.aborted && !own.aborted) fill(result, errorBox(error));
    }
  }
  const head = h("div", { className: "wide" }, h("h2", {}, texts.try_), h("p", { className: "hint" }, texts.tryHint));
  return {
    elements: [head, profile.element, phone.element],
    result,
    show,
    ready: Promise.all([profile.ready, phone.ready]),
  };
}

/** @param {{configuration: string | null, findings: import("../../types").Finding[]}} trial */
function rendered({ configuration, findings }) {
  return [
    configuration !== null &&
      h("pre", { className: "code", tabIndex: 0, role: "region", "aria-label": texts.configuration }, configuration),
    simpleTable(
      texts.findings,
      [texts.line, texts.severity, sentences(texts.message)],
      findings.map((one) => [one.line, badge(one.severity, texts.severities), one.message]),
      texts.noFindings,
    ),
  ];
}
