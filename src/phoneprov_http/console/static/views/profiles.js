/** Profiles: all of them for level 0, the caller's own otherwise. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { searchBar } from "../elements/search-bar.js";
import { texts } from "../texts.js";
import { SOFTWARE_TYPES } from "./phones.js";

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const search = searchBar(
    [{ name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES }],
    query,
    (values) => {
      history.replaceState(null, "", `#${withQuery("/profiles", values)}`);
      void list.reload();
    },
  );
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, texts.profiles),
      h("a", { className: "button primary", href: "#/profiles/new" }, texts.newProfile),
    ),
    search.element,
    list,
  );
  await list.configure({
    caption: texts.profiles,
    columns: [
      { title: texts.name, cell: (one) => one.name },
      { title: texts.description, cell: (one) => one.description, isOptional: true },
      { title: texts.softwareType, cell: (one) => one.software_type ?? texts.any, width: "8rem" },
      { title: texts.models, cell: (one) => one.compatible_models.join(", ") || texts.any, isOptional: true },
      { title: texts.changed, cell: (one) => texts.when(one.updated_at), isOptional: true },
    ],
    href: (one) => `#/profiles/${one.uuid}`,
    // This group of the API carries no total: a page that is not full is the last one.
    load: async (offset, limit, signal) => {
      const path = withQuery("phone-profiles", { ...search.values(), offset, limit });
      const { data } = await api.get(path, signal);
      return { rows: data, total: offset + data.length, isMore: data.length === limit };
    },
  });
}
