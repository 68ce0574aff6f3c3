/** Users: search, a new user, the import. For others than level 0: the caller. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { show } from "../elements/dialog.js";
import { recordForm } from "../elements/record-form.js";
import { searchBar } from "../elements/search-bar.js";
import { go } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** @type {import("../elements/record-form.js").Field[]} */
export const USER_FIELDS = [
  { name: "first_name", label: texts.firstName, isRequired: true },
  { name: "last_name", label: texts.lastName, isRequired: true },
  { name: "username", label: texts.username, isRequired: true },
  { name: "email", label: texts.email, kind: "email", isRequired: true },
  { name: "password", label: texts.password, kind: "password", autocomplete: "new-password" },
  { name: "phone", label: texts.telephone },
  { name: "location", label: texts.location },
  { name: "nationality", label: texts.nationality },
  { name: "lang", label: texts.language },
  { name: "timezone", label: texts.timezone },
  { name: "is_active", label: texts.isActive, kind: "checkbox" },
];

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  if (!session.isAdmin) {
    go(`/people/${session.me?.uuid}`);
    return;
  }
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const search = searchBar(
    [
      { name: "location", label: texts.location },
      {
        name: "is_active",
        label: texts.isActive,
        choices: [
          ["true", texts.yes],
          ["false", texts.no],
        ],
      },
    ],
    query,
    (values) => {
      history.replaceState(null, "", `#${withQuery("/people", values)}`);
      void list.reload();
    },
  );
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, texts.people),
      h("button", { className: "primary", onclick: add }, texts.newUser),
      h("a", { className: "button", href: "#/extensions" }, texts.extensions),
      h("a", { className: "button", href: "#/permissions" }, texts.permissions),
      h("a", { className: "button", href: "#/services" }, texts.services),
      h("a", { className: "button", href: "#/import" }, texts.import_),
    ),
    search.element,
    list,
  );
  await list.configure({
    caption: texts.people,
    columns: [
      { title: texts.name, cell: (user) => `${user.first_name} ${user.last_name}` },
      { title: texts.username, cell: (user) => user.username },
      { title: texts.email, cell: (user) => user.email, isOptional: true },
      { title: texts.location, cell: (user) => user.location, isOptional: true },
      { title: texts.isActive, cell: (user) => (user.is_active ? texts.yes : texts.no), width: "6rem" },
    ],
    href: (user) => `#/people/${user.uuid}`,
    load: async (offset, limit, signal) => {
      const path = withQuery("users", { ...search.values(), offset, limit });
      const { data, metadata } = await api.get(path, signal);
      return { rows: data, total: metadata.total ?? data.length };
    },
  });
}

function add() {
  const fields = USER_FIELDS.map((field) =>
    field.name === "password" ? { ...field, isRequired: true } : field,
  );
  void show(texts.newUser, (close) => {
    const { form } = recordForm(fields, { is_active: true }, (values) => api.post("users", values), {
      button: texts.create,
      saved: ({ data }) => {
        close();
        go(`/people/${data.uuid}`);
      },
    });
    return form;
  });
}
