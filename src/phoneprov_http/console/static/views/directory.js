/** The company directory, and the caller's personal contacts. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading } from "../elements/heading.js";
import { recordDialog } from "../elements/record-dialog.js";
import { searchBar } from "../elements/search-bar.js";
import { COMPANY_CONTACT } from "../fields.js";
import { session } from "../session.js";
import { TABLES } from "../tables.js";
import { texts } from "../texts.js";
import { contactsPart } from "./contacts.js";

/** @typedef {import("../../types").CompanyContact} CompanyContact */

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
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
    personal,
  );
  await Promise.all([
    list.configure({
      caption: texts.companyDirectory,
      name: "directory",
      table: TABLES["company-directory"],
      columns: [
        {
          title: texts.name,
          field: "name",
          cell: (one) =>
            session.mayWriteShared
              ? h("button", { className: "plain link", onclick: () => edit(one) }, one.name)
              : one.name,
          sort: "name",
        },
        { title: texts.work, field: "work", cell: (one) => one.work },
        { title: texts.mobile, field: "mobile", cell: (one) => one.mobile },
        { title: texts.email, field: "email", cell: (one) => one.email, sort: "email", isOptional: true },
        { title: texts.department, field: "department", cell: (one) => one.department, sort: "department", isOptional: true },
        { title: texts.location, field: "location", cell: (one) => one.location, sort: "location", isOptional: true },
      ],
      sort: query.get("sort") ?? "",
      sorted: search.keep,
      empty: () => search.empty(texts.noContacts),
      load: async (offset, limit, signal, sort) => {
        const path = withQuery("company-directory", { ...search.values(), offset, limit, sort });
        const { data, metadata } = await api.get(path, signal);
        return { rows: data, total: metadata.total ?? data.length };
      },
    }),
    contactsPart(personal, session.me?.uuid ?? ""),
  ]);
}
