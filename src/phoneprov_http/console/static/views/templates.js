/** Templates of configurations: each variant is for a model and a firmware family. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help } from "../elements/heading.js";
import { sortedHere } from "../elements/sorted-here.js";
import { ago } from "../format.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").Template} Template */

/** @type {import("../router.js").View} */
export async function view({ element }) {
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
    columns,
    href: (one) => `#/templates/${one.uuid}`,
    empty: () => texts.noTemplates,
    load: sortedHere(columns, async (offset, limit, signal) => {
      const path = withQuery("configuration-templates", { offset, limit });
      const { data, metadata } = await api.get(path, signal);
      return { rows: data, total: metadata.total ?? data.length };
    }),
  });
}

/** A variant as people name it. @param {Template} template */
export function variantTitle({ name, model, software_type: family }) {
  const kinds = [model, family].filter(Boolean).join(", ");
  return kinds ? `${name} (${kinds})` : name;
}
