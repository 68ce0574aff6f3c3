/** One user: where they are logged in now, then account, extensions, profiles, contacts. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { auditLink, heading } from "../elements/heading.js";
import { recordForm } from "../elements/record-form.js";
import { removed } from "../elements/removal.js";
import { simpleTable } from "../elements/simple-table.js";
import { tabs } from "../elements/tabs.js";
import { PIN, USER } from "../fields.js";
import { ago } from "../format.js";
import { go, readdress } from "../navigation.js";
import { needsLevel0 } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";
import { contactsPart } from "./contacts.js";
import { extensionsPart, levelForm, rightForm } from "./person-parts.js";
import { fullName } from "./people.js";
import { identitiesPart, sessionsPart } from "./sessions.js";
import { tokensPart } from "./tokens.js";

const MOST_PHONES = 4;

/** @typedef {import("../../types").User} User */

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], query, signal }) {
  const isOwn = uuid === session.me?.uuid;
  if (!session.seesPeople && !isOwn) return fill(element, ...needsLevel0());
  const path = `users/${encodeURIComponent(uuid)}`;
  const user = /** @type {User} */ ((await api.get(session.seesPeople ? path : "me", signal)).data);
  const used = withQuery("phones", { user_uuid: user.uuid, limit: MOST_PHONES });
  const { data: atPhones, metadata } = await api.get(used, signal);
  const total = metadata.total ?? atPhones.length;
  const admin = session.isAdmin;
  const links = `user-extensions/by-user/${user.uuid}`;
  const numbers = session.isHelpdesk ? (await api.get(links, signal)).data : [];
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
      admin && h("a", { className: "button", href: `#${withQuery("/people/leave", { username: user.username })}` }, texts.leaver),
      admin && h("button", { className: "danger", onclick: () => remove(path, user) }, texts.remove),
      auditLink(user.uuid),
    ),
    facts([
      [texts.username, user.username],
      [texts.email, user.email],
      ...(numbers.length > 0
        ? [/** @type {[string, any]} */ ([texts.extensions, numbers.map((/** @type {any} */ one) => one.extension).join(", ")])]
        : []),
      [texts.atPhone, whereabouts(user, atPhones, total)],
    ], "across"),
    tabs(
      fullName(user),
      parts,
      query.get("tab") ?? parts[0].name,
      (name) => readdress(withQuery(`/people/${uuid}`, { tab: name === parts[0].name ? "" : name })),
    ),
  );
}

/** The phones where a user is logged in; a list leads to those that are too many to name.
 * @param {User} user @param {any[]} phones @param {number} total */
function whereabouts(user, phones, total) {
  if (total === 0) return texts.atNoPhone;
  const rest = total - phones.length;
  return h(
    "ul",
    { className: "plain" },
    ...phones.map((phone) => h("li", {}, h("a", { href: `#/phones/${phone.mac}` }, phoneTitle(phone)))),
    rest > 0 &&
      h("li", {}, h("a", { href: `#${withQuery("/phones", { user: user.username })}` }, texts.andMore(rest))),
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

/** @param {HTMLElement} panel @param {User} user */
export function pinPart(panel, user) {
  const path = `vendor-users/${user.uuid}`;
  const name = fullName(user);
  const { form } = recordForm(PIN, {}, (values) => api.put(path, values), {
    said: () => texts.saved(texts.pinOf(name)),
  });
  const remove = async () => {
    const question = texts.removePinQuestion(name);
    await removed(path, texts.pinOf(name), { question, confirmation: texts.removePin });
  };
  form.lastElementChild?.append(
    h("button", { type: "button", className: "danger", onclick: remove }, texts.removePin),
  );
  fill(panel, h("section", {}, h("h2", {}, texts.pin), form));
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
