/** Users: search, a new user, the import. A helpdesk searches, others see themselves. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help } from "../elements/heading.js";
import { recordDialog } from "../elements/record-dialog.js";
import { searchBar, yesOrNo } from "../elements/search-bar.js";
import { USER } from "../fields.js";
import { ago } from "../format.js";
import { go } from "../navigation.js";
import { session } from "../session.js";
import { TABLES } from "../tables.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").User} User */

/** @param {{first_name: string, last_name: string}} user */
export const fullName = ({ first_name, last_name }) => `${first_name} ${last_name}`;

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  if (!session.seesPeople) {
    history.replaceState(history.state, "", `#/people/${session.me?.uuid}`);
    dispatchEvent(new HashChangeEvent("hashchange"));
    return;
  }
  const list = /** @type {import("../elements/data-list.js").DataList<User>} */ (dataList());
  const search = searchBar(
    "/people",
    [
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
    table: TABLES.users,
    columns: [
      { title: texts.name, cell: (user) => fullName(user), sort: "first_name" },
      { title: texts.username, field: "username", cell: (user) => user.username, sort: "username" },
      { title: texts.email, field: "email", cell: (user) => user.email, sort: "email", isOptional: true },
      { title: texts.location, field: "location", cell: (user) => user.location, sort: "location", isOptional: true },
      {
        title: texts.lastLogin,
        cell: (user) => ago(user.last_login_at),
        text: (user) => user.last_login_at,
        sort: "last_login_at",
        isOptional: true,
        width: "10rem",
      },
      { title: texts.isActive, field: "is_active", cell: (user) => (user.is_active ? texts.yes : texts.no), isOptional: true, width: "6rem" },
    ],
    sort: query.get("sort") ?? "",
    sorted: search.keep,
    href: (user) => `#/people/${user.uuid}`,
    empty: () => search.empty(texts.noUsers),
    load: async (offset, limit, signal, sort) => {
      const path = withQuery("users", { ...search.values(), offset, limit, sort });
      const { data, metadata } = await api.get(path, signal);
      return { rows: data, total: metadata.total ?? data.length };
    },
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
