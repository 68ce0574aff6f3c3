/** People, the people of a number or right, the directory of the company and personal ones. */

import { api, session, withQuery } from "../api.js";
import { ago, fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help, simpleTable } from "../elements/parts.js";
import { recordDialog } from "../elements/records.js";
import { searchBar, yesOrNo } from "../elements/search-bar.js";
import { COMPANY_CONTACT, PERSONAL_CONTACT, USER } from "../fields.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { NUMBER, NUMBER_FILTER, editButton, fullName, withNumbers } from "./shared.js";

/** @typedef {import("../../types").User} User */
/** @typedef {import("../../types").CompanyContact} CompanyContact */

/** Most addresses are whole at 1440 pixels. */
const EMAIL_WIDTH = "min(20vw, 21rem)";

// Users: search, a new user, the import. A helpdesk searches, others see themselves.

/** @type {import("../router.js").View} */
export async function peopleView({ element, query }) {
  if (!session.seesPeople) {
    history.replaceState(history.state, "", `#/people/${session.me?.uuid}`);
    dispatchEvent(new HashChangeEvent("hashchange"));
    return;
  }
  const list = /** @type {import("../elements/data-list.js").DataList<User>} */ (dataList());
  const search = searchBar(
    "/people",
    [
      NUMBER_FILTER,
      { name: "location", label: texts.location },
      yesOrNo("is_active", texts.isActive),
    ],
    query,
    () => void list.reload(),
    { list },
  );
  element.classList.add("with-list");
  fill(
    element,
    heading(
      texts.people,
      ...(session.isAdmin
        ? [
            h("button", { className: "primary", onclick: add }, texts.newUser),
            h("a", { className: "button", href: "#/people/join" }, texts.joiner),
            h("a", { className: "button", href: "#/people/leave" }, texts.leaver),
            h("a", { className: "button", href: "#/extensions" }, texts.extensions),
            h("a", { className: "button", href: "#/permissions" }, texts.permissions),
            h("a", { className: "button", href: "#/services" }, texts.services),
            h("a", { className: "button", href: "#/import" }, texts.import_),
          ]
        : []),
      help("explanation/levels"),
    ),
    search.element,
    list,
  );
  await list.configure({
    caption: texts.people,
    name: "people",
    path: () => withQuery("users", search.values()),
    rows: (users, signal) => withNumbers("users", users, signal),
    columns: [
      { title: texts.name, cell: (user) => fullName(user), sort: "first_name" },
      NUMBER,
      { title: texts.username, cell: (user) => user.username, sort: "username" },
      { title: texts.email, cell: (user) => user.email, sort: "email", isOptional: true, width: EMAIL_WIDTH },
      { title: texts.location, cell: (user) => user.location, sort: "location", isOptional: true },
      {
        title: texts.lastLogin,
        cell: (user) => ago(user.last_login_at),
        sort: "last_login_at",
        isOptional: true,
        isWide: true,
        width: "8.5rem",
      },
      { title: texts.isActive, cell: (user) => (user.is_active ? texts.yes : texts.no), isOptional: true, width: "5rem" },
    ],
    href: (user) => `#/people/${user.uuid}`,
    key: session.isAdmin ? (user) => user.uuid : undefined,
    named: (user) => user.username,
    actions: (uuids) => [editButton("users", uuids)],
    empty: () => search.empty(texts.noUsers),
  });
}

function add() {
  const fields = USER.map((field) =>
    field.name === "password" ? { ...field, isRequired: true, hint: "" } : field,
  );
  recordDialog({
    title: texts.newUser,
    path: "users",
    fields,
    record: null,
    name: fullName,
    changed: (user) => go(`/people/${user.uuid}`),
  });
}

// The users that an extension is linked to.

/** @param {string} uuid of the extension @param {AbortSignal} signal */
export function linkedPart(uuid, signal) {
  const place = h("section", {}, h("h3", {}, texts.linkedTo));
  void api.get(`user-extensions/by-extension/${uuid}`, signal).then(
    ({ data }) =>
      fill(
        place,
        h("h3", {}, texts.linkedTo),
        simpleTable(
          texts.linkedTo,
          [texts.name, texts.username],
          data.map((/** @type {import("../../types").LinkedUser} */ one) => [
            h("a", { href: `#/people/${one.user_uuid}` }, fullName(one)),
            one.username,
          ]),
          texts.none,
        ),
      ),
    () => place.remove(),
  );
  return place;
}

// The personal contacts of one user.

/**
 * @param {HTMLElement} panel
 * @param {string} userUuid
 */
export async function contactsPart(panel, userUuid) {
  const list = `personal-directory/${userUuid}`;
  const isOwn = userUuid === session.me?.uuid;
  const { data } = await api.get(isOwn ? "me/vendor-services/personal" : list);
  /** @param {import("../../types").PersonalContact | null} contact */
  const edit = (contact) =>
    recordDialog({
      title: contact ? contact.name : texts.newContact,
      path: contact ? `personal-directory/contact/${contact.uuid}` : list,
      fields: PERSONAL_CONTACT,
      record: contact,
      initial: {},
      changed: () => void contactsPart(panel, userUuid),
    });
  fill(
    panel,
    h(
      "div",
      { className: "heading" },
      h("h2", {}, texts.personalDirectory),
      h("button", { onclick: () => edit(null) }, texts.newContact),
    ),
    simpleTable(
      texts.personalDirectory,
      [texts.name, texts.work, texts.mobile, texts.home],
      data.map((/** @type {any} */ one) => [
        h("button", { className: "plain link", onclick: () => edit(one) }, one.name),
        one.work,
        one.mobile,
        one.home,
      ]),
      texts.noContacts,
    ),
  );
}

// The company directory, and the caller's personal contacts.

/** @type {import("../router.js").View} */
export async function directoryView({ element, query }) {
  const list = /** @type {import("../elements/data-list.js").DataList<CompanyContact>} */ (dataList());
  const search = searchBar(
    "/directory",
    ["department", "company", "location", "building"].map((name) => ({
      name,
      label: COMPANY_CONTACT.find((field) => field.name === name)?.label ?? name,
    })),
    query,
    () => void list.reload(),
    { list },
  );
  const personal = h("section");
  /** @param {CompanyContact | null} contact */
  const edit = (contact) =>
    recordDialog({
      title: contact ? contact.name : texts.newContact,
      path: contact ? `company-directory/${contact.uuid}` : "company-directory",
      fields: COMPANY_CONTACT,
      record: contact,
      changed: () => void list.reload(),
    });
  fill(
    element,
    heading(
      texts.directory,
      session.mayWriteShared &&
        h("button", { className: "primary", onclick: () => edit(null) }, texts.newContact),
    ),
    search.element,
    list,
  );
  await Promise.all([
    list.configure({
      caption: texts.companyDirectory,
      name: "directory",
      path: () => withQuery("company-directory", search.values()),
      columns: [
        {
          title: texts.name,
          cell: (one) =>
            session.mayWriteShared
              ? h("button", { className: "plain link", onclick: () => edit(one) }, one.name)
              : one.name,
          sort: "name",
        },
        { title: texts.work, cell: (one) => one.work, width: "10.5rem" },
        { title: texts.mobile, cell: (one) => one.mobile, width: "10.5rem" },
        { title: texts.email, cell: (one) => one.email, sort: "email", isOptional: true, width: EMAIL_WIDTH },
        { title: texts.department, cell: (one) => one.department, sort: "department", isOptional: true },
        { title: texts.location, cell: (one) => one.location, sort: "location", isOptional: true },
      ],
      empty: () => search.empty(texts.noContacts),
    }),
    contactsPart(personal, session.me?.uuid ?? ""),
  ]);
  element.append(personal);
}
