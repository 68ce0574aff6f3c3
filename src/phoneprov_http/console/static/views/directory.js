/** The company directory, and the caller's personal contacts. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { recordDialog } from "../elements/record-dialog.js";
import { searchBar } from "../elements/search-bar.js";
import { simpleTable } from "../elements/simple-table.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** @type {import("../elements/record-form.js").Field[]} */
export const PERSONAL_FIELDS = [
  { name: "name", label: texts.name, isRequired: true },
  { name: "work", label: texts.work },
  { name: "mobile", label: texts.mobile },
  { name: "home", label: texts.home },
  { name: "email", label: texts.email },
  { name: "ringtone", label: texts.ringtone },
];

/** @type {import("../elements/record-form.js").Field[]} */
const COMPANY_FIELDS = [
  ...PERSONAL_FIELDS,
  { name: "department", label: texts.department },
  { name: "company", label: texts.company },
  { name: "location", label: texts.location },
  { name: "building", label: texts.building },
];

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const search = searchBar([], query, (values) => {
    history.replaceState(null, "", `#${withQuery("/directory", values)}`);
    void list.reload();
  });
  const personal = h("section");
  const edit = (/** @type {any} */ contact) =>
    contactDialog("company-directory", "company-directory", COMPANY_FIELDS, contact, () =>
      void list.reload(),
    );
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, texts.directory),
      session.mayWriteShared &&
        h("button", { className: "primary", onclick: () => edit(null) }, texts.newContact),
    ),
    search.element,
    list,
    personal,
  );
  await Promise.all([
    list.configure({
      caption: texts.companyDirectory,
      columns: [
        {
          title: texts.name,
          cell: (one) =>
            session.mayWriteShared
              ? h("button", { className: "plain link", onclick: () => edit(one) }, one.name)
              : one.name,
        },
        { title: texts.work, cell: (one) => one.work },
        { title: texts.mobile, cell: (one) => one.mobile },
        { title: texts.department, cell: (one) => one.department, isOptional: true },
        { title: texts.location, cell: (one) => one.location, isOptional: true },
      ],
      load: async (offset, limit, signal) => {
        const path = withQuery("company-directory", { ...search.values(), offset, limit });
        const { data, metadata } = await api.get(path, signal);
        return { rows: data, total: metadata.total ?? data.length };
      },
    }),
    drawPersonal(personal, session.me?.uuid ?? ""),
  ]);
}

/**
 * The personal contacts of one user.
 *
 * @param {HTMLElement} element
 * @param {string} userUuid
 */
export async function drawPersonal(element, userUuid) {
  const path = `personal-directory/${encodeURIComponent(userUuid)}`;
  const { data } = await api.get(path);
  const redraw = () => void drawPersonal(element, userUuid);
  const edit = (/** @type {any} */ contact) =>
    contactDialog(path, "personal-directory/contact", PERSONAL_FIELDS, contact, redraw);
  fill(
    element,
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
    ),
  );
}

/**
 * @param {string} list
 * @param {string} own where one contact of the list is
 * @param {import("../elements/record-form.js").Field[]} fields
 * @param {any} contact null for a new one
 * @param {() => void} changed
 */
function contactDialog(list, own, fields, contact, changed) {
  recordDialog({
    title: contact ? contact.name : texts.newContact,
    path: contact ? `${own}/${contact.uuid}` : list,
    fields,
    record: contact,
    changed,
  });
}
