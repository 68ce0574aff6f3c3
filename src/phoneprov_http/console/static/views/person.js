/** One user: account, level, extensions, PIN, profiles, personal contacts. */

import { ApiError, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { facts } from "../elements/facts.js";
import { notice } from "../elements/notice.js";
import { MOST_CHOICES, picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { simpleTable } from "../elements/simple-table.js";
import { go } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { drawPersonal } from "./directory.js";
import { USER_FIELDS } from "./people.js";

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], signal }) {
  const path = `users/${encodeURIComponent(uuid)}`;
  const user = session.isAdmin
    ? (await api.get(path, signal)).data
    : (await api.get("me", signal)).data;
  const [level, extensions, contacts] = [h("section"), h("section"), h("section")];
  const profiles = (await api.get(`phone-profiles/user/${user.uuid}`, signal)).data;
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, `${user.first_name} ${user.last_name}`),
      session.isAdmin &&
        h("button", { className: "danger", onclick: () => remove(path, user) }, texts.remove),
    ),
    session.isAdmin ? account(path, user) : facts([[texts.username, user.username]]),
    level,
    extensions,
    pin(user.uuid),
    h(
      "section",
      {},
      h("h2", {}, texts.profiles),
      simpleTable(
        texts.profiles,
        [texts.name, texts.changed],
        profiles.map((/** @type {any} */ one) => [
          h("a", { href: `#/profiles/${one.uuid}` }, one.name),
          texts.when(one.updated_at),
        ]),
      ),
      h("a", { className: "button", href: `#/profiles/new?user=${user.uuid}` }, texts.newProfile),
    ),
    contacts,
  );
  await Promise.all([
    session.isAdmin ? drawLevel(level, user.uuid) : null,
    session.isAdmin ? drawExtensions(extensions, user.uuid) : null,
    drawPersonal(contacts, user.uuid),
  ]);
}

/** @param {string} path @param {any} user */
function account(path, user) {
  return recordForm(USER_FIELDS, user, (values) => api.put(path, values), { changesOnly: true }).form;
}

/** @param {string} uuid */
function pin(uuid) {
  const { form } = recordForm(
    [{ name: "pin_code", label: texts.newPin, kind: "password", isRequired: true, hint: texts.pinHint }],
    {},
    (values) => api.put(`vendor-users/${uuid}`, values),
  );
  return h("section", {}, h("h2", {}, texts.pin), form);
}

/** @param {HTMLElement} element @param {string} uuid */
async function drawLevel(element, uuid) {
  const own = `user-perms/${uuid}`;
  const [all, assigned] = await Promise.all([
    api.get("permissions").then(({ data }) => data),
    api.get(own).then(
      ({ data }) => data,
      (error) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      },
    ),
  ]);
  const { form } = recordForm(
    [
      {
        name: "perm_uuid",
        label: texts.permission,
        choices: all.map((/** @type {any} */ one) => [one.uuid, `${one.name} (${one.level})`]),
        hint: texts.levelHint,
      },
    ],
    { perm_uuid: assigned?.perm_uuid ?? "" },
    ({ perm_uuid }) =>
      perm_uuid ? api.post("user-perms", { user_uuid: uuid, perm_uuid }) : api.remove(own),
  );
  fill(element, h("h2", {}, texts.permission), form);
}

/** @param {HTMLElement} element @param {string} uuid */
async function drawExtensions(element, uuid) {
  const { data } = await api.get(`user-extensions/by-user/${uuid}`);
  const redraw = () => void drawExtensions(element, uuid);
  const unlink = async (/** @type {any} */ link) => {
    if (!(await ask(texts.unlinkQuestion(link.extension), texts.unlink))) return;
    notice((await api.remove(`user-extensions/${link.uuid}`)).message);
    redraw();
  };
  const choice = picker({
    label: texts.extension,
    path: (q) => withQuery("extensions", { q, limit: MOST_CHOICES }),
    option: (one) => ({ value: one.uuid, text: `${one.extension} ${one.name}` }),
  });
  const link = async () => {
    try {
      const order = { user_uuid: uuid, extension_uuid: choice.value() };
      notice((await api.post("user-extensions", order)).message);
      redraw();
    } catch (error) {
      notice(error instanceof Error ? error.message : String(error), "failed");
    }
  };
  fill(
    element,
    h("h2", {}, texts.extensions),
    simpleTable(
      texts.extensions,
      [texts.extension, texts.name, texts.type, ""],
      data.map((/** @type {any} */ one) => [
        one.extension,
        one.ext_name,
        one.type,
        h("button", { onclick: () => unlink(one) }, texts.unlink),
      ]),
    ),
    choice.element,
    h("p", {}, h("button", { onclick: link }, texts.link)),
  );
  await choice.ready;
}

/** @param {string} path @param {any} user */
async function remove(path, user) {
  if (!(await ask(texts.deleteUserQuestion(user.username), texts.remove, { isDangerous: true }))) return;
  notice((await api.remove(path)).message);
  go("/people");
}
