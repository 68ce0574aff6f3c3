/** Profiles, and one profile. */

import { ApiError, api, session, withQuery } from "../api.js";
import { ago, fill, h } from "../dom.js";
import { codeEditor } from "../elements/code.js";
import { dataList } from "../elements/data-list.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { ask, auditLink, heading, help, messageOf, notice } from "../elements/parts.js";
import { pairEditor, tabs } from "../elements/records.js";
import { searchBar } from "../elements/search-bar.js";
import { PROFILE, SOFTWARE_TYPES, field } from "../fields.js";
import { forgetGuards, go, guard, here, readdress } from "../navigation.js";
import { texts } from "../texts.js";
import { conflictBox, previewPart, revisionsPart, usesPart } from "./profile-parts.js";
import { NUMBER, NUMBER_FILTER, fullName, peopleIn, username, withNumbers } from "./shared.js";

/** @typedef {import("../../types").Profile & {whose?: import("../../types").Numbered}} Row */
/** @typedef {import("../../types").Profile} Profile */

// Profiles: all of them for level 0, the caller's own otherwise.

/** @type {import("../router.js").View} */
export async function profilesView({ element, query }) {
  const list = /** @type {import("../elements/data-list.js").DataList<Row>} */ (dataList());
  const search = searchBar(
    "/profiles",
    [...(session.seesPeople ? [NUMBER_FILTER] : []), { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES }],
    query,
    () => void list.reload(),
    { list },
  );
  const add = h("a", { className: "button primary", href: "#/profiles/new" }, texts.newProfile);
  element.classList.add("with-list");
  fill(element, heading(texts.profiles, add, session.isAdmin && h("a", { className: "button", href: "#/templates" }, texts.templates), help("how-to/from-files-to-a-template")), search.element, list);
  await list.configure({
    caption: texts.profiles,
    name: "profiles",
    path: () => withQuery("phone-profiles", search.values()),
    rows: (profiles, signal) => withNumbers("profiles", profiles, signal),
    columns: [
      { title: texts.name, cell: (one) => one.name, sort: "name" },
      ...(session.seesPeople
        ? [{ title: texts.owner, cell: peopleIn, sort: "username", width: "12.5rem" }, NUMBER]
        : []),
      { title: texts.description, cell: (one) => one.description, isOptional: true },
      { title: texts.softwareType, cell: (one) => one.software_type ?? texts.any, sort: "software_type", width: "9rem" },
      { title: texts.models, cell: (one) => one.compatible_models.join(", ") || texts.any, isOptional: true },
      { title: texts.template, cell: (one) => one.template ?? "", isOptional: true, width: "8rem" },
      {
        title: texts.changed,
        cell: (one) => ago(one.updated_at),
        sort: "updated_at",
        isOptional: true,
        width: "10rem",
      },
    ],
    // What is in the profile of another person is for level 0.
    href: (one) =>
      session.isAdmin || one.user_uuid === session.me?.uuid
        ? `#/profiles/${one.uuid}`
        : `#/switch?profile=${one.uuid}`,
    empty: () => search.empty(texts.noProfiles),
    // This group of the API carries no total: a page that is not full is the last one.
  });
}

// One profile: its fields, the configuration with the server's findings, its revisions, and the
// phones it is on.

const CHECK_MS = 600;
const EMPTY = "<device>\n</device>\n";

/** The profile, and the revision that its text has at least: it is read first.
 * @param {string} path @param {AbortSignal} signal */
async function stored(path, signal) {
  const revisions = (await api.get(`${path}/revisions`, signal)).data;
  const profile = /** @type {Profile} */ ((await api.get(path, signal)).data);
  return { profile, revision: revisions.at(-1)?.number ?? null };
}

/** @type {import("../router.js").View} */
export async function profileView({ element, parameters: [uuid], query, signal }) {
  const isNew = uuid === "new";
  const path = `phone-profiles/${encodeURIComponent(uuid)}`;
  const fresh = /** @type {any} */ ({
    name: "",
    cnf_xml: EMPTY,
    compatible_models: [],
    user_uuid: query.get("user") ?? session.me?.uuid,
  });
  const { profile, revision } = isNew ? { profile: fresh, revision: null } : await stored(path, signal);
  const names = isNew || profile.template ? await templateNames(signal) : [];
  if (isNew) profile.template = query.get("template") ?? names[0] ?? null;
  let isTemplated = Boolean(profile.template);
  let basedOn = revision;
  const conflict = h("div", { "aria-live": "polite" });

  /** @type {number | undefined} */
  let timer;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void Promise.all([check(), preview?.soon()]), CHECK_MS);
  };
  const pairs = pairEditor({ label: texts.values, hint: texts.valuesHint, values: profile.values ?? {} });
  pairs.element.addEventListener("input", changed);
  const code = codeEditor({ label: texts.configuration, value: profile.cnf_xml ?? "", changed });
  const editor = {
    element: h("div", { className: "editor-place" }, pairs.element, code.element),
    value: () => (isTemplated ? JSON.stringify(pairs.value(), null, 2) : code.value()),
    show: code.show,
  };
  /** The values of a template, or a text of its own. */
  const showEditor = () => {
    pairs.element.hidden = !isTemplated;
    code.element.hidden = isTemplated;
  };
  showEditor();
  let saved = editor.value();
  const content = () => (isTemplated ? { values: pairs.value() } : { cnf_xml: code.value() });
  const preview = isNew ? null : previewPart(profile, () => (editor.value() === saved ? {} : content()), signal);

  async function check() {
    if (isTemplated) return;
    const order = { cnf_xml: editor.value(), software_type: values().software_type || null };
    try {
      const { data } = await api.post("phone-profiles/lint", order, signal);
      if (order.cnf_xml === editor.value()) editor.show(data.findings);
    } catch (error) {
      if (error instanceof ApiError && error.status === 422) {
        editor.show(error.details.map(located));
      }
    }
  }

  const fields = isNew || isTemplated ? [templateField(names, !isNew), ...PROFILE] : PROFILE;
  const owner =
    isNew && session.isAdmin
      ? picker({
          label: texts.owner,
          chosen: `users/${profile.user_uuid}`,
          path: choices("users", "last_name"),
          option: (one) => ({ value: one.uuid, text: `${fullName(one)}, ${one.username}` }),
        })
      : null;
  const { form, values } = recordForm(fields, profile, save, {
    changesOnly: !isNew,
    button: isNew ? texts.create : texts.save,
    said: ({ data }) => (isNew ? texts.created : texts.saved)(data.name),
    saved: ({ data }) => {
      if (!isNew) return;
      forgetGuards();
      go(`/profiles/${data.uuid}`);
    },
  });

  /** @param {Record<string, any>} given */
  async function save(given) {
    if (owner && !owner.isChosen()) return null;
    const text = editor.value();
    const order = isNew || text !== saved ? { ...given, ...content() } : given;
    fill(conflict);
    try {
      const reply = isNew
        ? await api.post("phone-profiles", { ...order, user_uuid: owner?.value() ?? profile.user_uuid })
        : await api.put(path, { ...order, ...(basedOn === null ? {} : { revision: basedOn }) });
      saved = text;
      if (!isNew) basedOn = (await stored(path, signal)).revision;
      void preview?.show();
      return reply;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "changed_meanwhile") throw error;
      const now = await stored(path, signal);
      const overwrite = () => {
        basedOn = now.revision;
        form.requestSubmit();
      };
      fill(conflict, conflictBox(textOf(now.profile), text, overwrite));
      return null;
    }
  }

  form.querySelector(".actions")?.before(conflict);
  const typed = () => (isNew ? code.value() !== EMPTY || Object.keys(pairs.value()).length > 0 : editor.value() !== saved);
  guard(() => form.isConnected && typed());
  if (owner) form.querySelector(".field")?.before(owner.element);
  if (isNew) {
    form.addEventListener("input", () => {
      isTemplated = Boolean(values().template);
      showEditor();
    });
  }
  if (preview) form.append(preview.element);
  const edited = h("div", { className: "profile" }, form, editor.element, preview?.result);
  const actions = isNew
    ? []
    : [
        h("span", { className: "quiet" }, `${texts.owner}: `, h("a", { href: `#/people/${profile.user_uuid}` }, peopleIn((await withNumbers("profiles", [profile], signal))[0]) || (await username(profile.user_uuid)))),
        h("a", { className: "button", href: `#/switch?profile=${profile.uuid}` }, texts.switchPhoneTo),
        h("button", { className: "danger", onclick: () => remove(path, profile.name) }, texts.remove),
      ];
  await preview?.ready;
  element.classList.add("wide");
  await owner?.ready;
  fill(
    element,
    heading(isNew ? texts.newProfile : profile.name, ...actions, !isNew && auditLink(uuid), help(isTemplated ? "reference/templates" : "explanation/switch")),
    isNew
      ? edited
      : tabs(
          texts.profile,
          [
            { name: "edit", title: texts.edit, show: (panel) => panel.append(edited) },
            { name: "revisions", title: texts.revisions, isAnew: true, show: (panel) => revisionsPart(panel, path, signal) },
            { name: "phones", title: texts.deployedOn, show: (panel) => usesPart(panel, profile, signal) },
          ],
          query.get("tab") ?? "edit",
          (name) => readdress(withQuery(`/profiles/${uuid}`, { tab: name === "edit" ? "" : name })),
        ),
  );
  await check();
}

/** What is compared of a profile. @param {Profile} profile */
const textOf = ({ cnf_xml, values }) => cnf_xml ?? JSON.stringify(values, null, 2);

/** The names of templates; others than level 0 know the name. @param {AbortSignal} signal @returns {Promise<string[]>} */
async function templateNames(signal) {
  if (!session.isAdmin) return [];
  const all = await api.all("configuration-templates", {}, signal);
  return [...new Set(all.map(({ name }) => name))];
}

/** @param {string[]} names @param {boolean} isRequired @returns {import("../fields.js").Field} */
const templateField = (names, isRequired) =>
  field("template", {
    isRequired,
    empty: texts.ownText,
    hint: isRequired ? "" : texts.ownTextHint,
    ...(session.isAdmin ? { choices: names.map((one) => /** @type {[string, string]} */ ([one, one])) } : {}),
  });

/** A problem of the body as a finding: the message of the server names the line and the column.
 * @param {{field: string, message: string}} problem
 * @returns {import("../../types").Finding} */
export function located({ message }) {
  const at = /line (\d+)(?:,? column (\d+))?/i.exec(message);
  return { severity: "error", line: Number(at?.[1] ?? 1), column: Number(at?.[2] ?? 1), code: "", message };
}

/** @param {string} path @param {string} name */
async function remove(path, name) {
  const isHere = here();
  const details = h("p", {}, texts.deleteProfileHint);
  if (!(await ask(texts.deleteQuestion(name), texts.remove, { isDangerous: true, details }))) return;
  try {
    await removed(path);
    notice(texts.deleted(name));
    if (!isHere()) return;
    forgetGuards();
    go("/profiles");
  } catch (error) {
    if (error !== null) notice(messageOf(error), "failed");
  }
}

/** A profile that desks need is deleted after another question, which names them.
 * @param {string} path */
async function removed(path) {
  try {
    await api.remove(path);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const question = texts.deleteAnyway(error.message);
    if (!(await ask(question, texts.remove, { isDangerous: true }))) throw null;
    await api.remove(withQuery(path, { force: true }));
  }
}
