/** One person: account, level and rights, numbers, contacts, ways to sign in. */

import { ApiError, api, session, withQuery } from "../api.js";
import { ago, fill, h } from "../dom.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { ask, auditLink, facts, heading, messageOf, needsLevel0, notice, simpleTable } from "../elements/parts.js";
import { removed, tabs } from "../elements/records.js";
import { USER } from "../fields.js";
import { go, readdress } from "../navigation.js";
import { texts } from "../texts.js";
import { identitiesPart, pinPart, sessionsPart, tokensPart } from "./account.js";
import { undoLink } from "./join.js";
import { contactsPart } from "./people.js";
import { EXTENSIONS, fullName, noteFact, numbersIn, numbersOf, phoneTitle } from "./shared.js";

/** @typedef {import("../../types").User} User */

// Parts of a person's page that need level 0: the permission level, the right, the linked
// extensions.

/** @param {import("../../types").User} user */
async function levelForm(user) {
  const own = `user-perms/${user.uuid}`;
  const [all, assigned] = await Promise.all([
    api.get("permissions").then(({ data }) => data),
    known(own),
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
      perm_uuid ? api.post("user-perms", { user_uuid: user.uuid, perm_uuid }) : api.remove(own),
    { said: () => texts.saved(texts.levelOf(fullName(user))), isSecond: true },
  );
  return h("section", {}, form);
}

/** A record, or null if it does not exist. @param {string} path */
async function known(path) {
  try {
    return (await api.get(path)).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** @param {import("../../types").User} user */
async function rightForm(user) {
  const path = `users/${user.uuid}`;
  const right = await known(`${path}/rights`);
  const { form } = recordForm(
    [
      { name: "right", label: texts.right, choices: [["helpdesk", texts.helpdesk]] },
      { name: "locations", label: texts.rightLocations, kind: "list", hint: texts.rightHint },
    ],
    { right: right?.right ?? "", locations: right?.locations ?? [] },
    (values) => (values.right ? api.put(`${path}/rights`, values) : api.remove(`${path}/rights`)),
    { said: () => texts.saved(texts.rightOf(fullName(user))), isSecond: true },
  );
  return h("section", {}, form);
}

/** @param {HTMLElement} panel @param {string} uuid */
async function extensionsPart(panel, uuid) {
  const { data } = await api.get(`user-extensions/by-user/${uuid}`);
  const redraw = () => void extensionsPart(panel, uuid);
  const unlink = async (/** @type {any} */ link) => {
    if (!(await ask(texts.unlinkQuestion(link.extension), texts.unlink))) return;
    await done(api.remove(`user-extensions/${link.uuid}`), texts.unlinked(link.extension));
  };
  const choice = picker({
    label: texts.extension,
    path: choices("extensions", "extension"),
    ...EXTENSIONS,
  });
  const link = async () => {
    if (!choice.isChosen()) return;
    const order = { user_uuid: uuid, extension_uuid: choice.value() };
    await done(api.post("user-extensions", order), texts.linked(choice.row().extension));
  };
  /** @param {Promise<unknown>} work @param {string} said */
  async function done(work, said) {
    try {
      await work;
      notice(said);
      redraw();
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  }
  fill(
    panel,
    simpleTable(
      texts.extensions,
      [texts.extension, texts.name, texts.type, texts.action],
      data.map((/** @type {any} */ one) => [
        one.extension,
        one.ext_name,
        one.type,
        h("button", { onclick: () => unlink(one) }, texts.unlink),
      ]),
      texts.noLinks,
    ),
    h("div", { className: "record" }, choice.element),
    h("p", {}, h("button", { onclick: link }, texts.link)),
  );
  await choice.ready;
}

// One user: where they are logged in now, then account, extensions, profiles, contacts.

const MOST_ACTS = 200;

/** @type {import("../router.js").View} */
export async function personView({ element, parameters: [uuid], query, signal }) {
  const isOwn = uuid === session.me?.uuid;
  if (!session.seesPeople && !isOwn) return fill(element, ...needsLevel0());
  const path = `users/${encodeURIComponent(uuid)}`;
  const user = /** @type {User} */ ((await api.get(session.seesPeople ? path : "me", signal)).data);
  const whose = (await numbersOf("users", [user.uuid], signal)).get(user.uuid);
  const isAt = whose?.phones[0]?.is_logged_in === true;
  const admin = session.isAdmin;
  const act = admin && (await lastAct(user.uuid, signal));
  const parts = [
    ...(admin
      ? [
          { name: "account", title: texts.account, show: (/** @type {HTMLElement} */ panel) => accountPart(panel, path, user) },
          { name: "extensions", title: texts.extensions, show: (/** @type {HTMLElement} */ panel) => extensionsPart(panel, user.uuid) },
        ]
      : []),
    { name: "profiles", title: texts.profiles, show: (/** @type {HTMLElement} */ panel) => profilesPart(panel, user, signal) },
    { name: "pin", title: texts.pin, show: (/** @type {HTMLElement} */ panel) => pinPart(panel, user) },
    ...(admin || isOwn
      ? [{ name: "contacts", title: texts.personalDirectory, show: (/** @type {HTMLElement} */ panel) => contactsPart(panel, user.uuid) }]
      : []),
    ...(admin
      ? [{ name: "access", title: texts.access, show: (/** @type {HTMLElement} */ panel) => accessPart(panel, path, signal) }]
      : []),
  ];
  fill(
    element,
    heading(
      fullName(user),
      !user.is_active && h("span", { className: "badge" }, texts.inactive),
      admin && h("a", { className: "button", href: `#${withQuery("/people/leave", { username: user.username })}` }, texts.leaver),
      act && undoLink(act),
      admin && h("button", { className: "danger", onclick: () => remove(path, user) }, texts.remove),
      auditLink(user.uuid),
    ),
    facts([
      [texts.numberOf, numbersIn({ whose })],
      [texts.username, user.username],
      [texts.email, user.email],
      [texts.atPhone, whose && isAt ? phonesOf(user, whose) : texts.atNoPhone],
      ...(whose && !isAt && whose.phones_total > 0
        ? [/** @type {[string, any]} */ ([texts.profileIsOn, phonesOf(user, whose)])]
        : []),
      ...(await noteFact(path, signal)),
    ], "across"),
    tabs(
      fullName(user),
      parts,
      query.get("tab") ?? parts[0].name,
      (name) => readdress(withQuery(`/people/${uuid}`, { tab: name === parts[0].name ? "" : name })),
    ),
  );
}

/** The act in which a person joined or left last, unless it was undone. @param {string} uuid @param {AbortSignal} signal
 * @returns {Promise<string | null>} */
async function lastAct(uuid, signal) {
  const { data } = await api.get(withQuery("audit", { resource: "people_act", limit: MOST_ACTS }), signal);
  const last = data.find((/** @type {any} */ one) => one.changes.user_uuid?.new === uuid);
  return last && !last.action.endsWith("_undone") ? last.resource_id : null;
}

/** The phones of a user; a list leads to those that are too many to name.
 * @param {User} user @param {import("../../types").Numbered} whose */
function phonesOf(user, { phones, phones_total: total }) {
  const rest = total - phones.length;
  return h(
    "ul",
    { className: "plain" },
    ...phones.map((phone) => h("li", {}, h("a", { href: `#/phones/${phone.mac}` }, phoneTitle(phone)))),
    rest > 0 &&
      h("li", {}, h("a", { href: `#${withQuery("/phones", phones[0].is_logged_in ? { user: user.username } : { q: user.username })}` }, texts.andMore(rest))),
  );
}

/** @param {HTMLElement} panel @param {string} path @param {User} user */
async function accountPart(panel, path, user) {
  const { form } = recordForm(USER, user, (values) => api.put(path, values), {
    changesOnly: true,
    said: ({ data }) => texts.saved(fullName(data)),
  });
  const [level, right] = await Promise.all([levelForm(user), rightForm(user)]);
  fill(panel, form, level, right);
}

/** @param {HTMLElement} panel @param {string} path @param {AbortSignal} signal */
async function accessPart(panel, path, signal) {
  const [sessions, tokens, identities] = [h("section"), h("section"), h("section")];
  const again = () => void accessPart(panel, path, signal);
  await Promise.all([
    sessionsPart(sessions, signal, `${path}/sessions`),
    tokensPart(tokens, signal, `${path}/tokens`),
    identitiesPart(identities, signal, again, `${path}/identities`),
  ]);
  fill(panel, sessions, tokens, identities);
}

/** @param {HTMLElement} panel @param {User} user @param {AbortSignal} signal */
async function profilesPart(panel, user, signal) {
  const { data } = await api.get(`phone-profiles/user/${user.uuid}`, signal);
  const mayEdit = session.isAdmin || user.uuid === session.me?.uuid;
  fill(
    panel,
    simpleTable(
      texts.profiles,
      [texts.name, texts.softwareType, texts.models, texts.changed],
      data.map((/** @type {import("../../types").Profile} */ one) => [
        mayEdit
          ? h("a", { href: `#/profiles/${one.uuid}` }, one.name)
          : h("a", { href: `#/switch?profile=${one.uuid}`, title: texts.switchTo }, one.name),
        one.software_type ?? texts.any,
        one.compatible_models.join(", ") || texts.any,
        ago(one.updated_at),
      ]),
      texts.noProfiles,
    ),
    mayEdit && h("a", { className: "button", href: `#/profiles/new?user=${user.uuid}` }, texts.newProfile),
  );
}

/** @param {string} path @param {User} user */
async function remove(path, user) {
  const question = texts.deleteUserQuestion(user.username);
  if (await removed(path, fullName(user), { question })) go("/people");
}
