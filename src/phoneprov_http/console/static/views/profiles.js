/** Profiles: all of them for level 0, the caller's own otherwise. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help } from "../elements/heading.js";
import { searchBar } from "../elements/search-bar.js";
import { SOFTWARE_TYPES } from "../fields.js";
import { ago } from "../format.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { username } from "./accounts.js";

/** @typedef {import("../../types").Profile & {owner: string}} Row */

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  const list = /** @type {import("../elements/data-list.js").DataList<Row>} */ (dataList());
  const search = searchBar(
    "/profiles",
    [{ name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES }],
    query,
    () => void list.reload(),
    { list },
  );
  const add = h("a", { className: "button primary", href: "#/profiles/new" }, texts.newProfile);
  element.classList.add("with-list");
  fill(element, heading(texts.profiles, add, h("a", { className: "button", href: "#/profiles/new?template=" }, texts.fromTemplate), session.isAdmin && h("a", { className: "button", href: "#/templates" }, texts.templates), help("how-to/from-files-to-a-template")), search.element, list);
  await list.configure({
    caption: texts.profiles,
    name: "profiles",
    columns: [
      { title: texts.name, cell: (one) => one.name, sort: "name" },
      { title: texts.description, cell: (one) => one.description, isOptional: true },
      { title: texts.softwareType, cell: (one) => one.software_type ?? texts.any, sort: "software_type", width: "9rem" },
      { title: texts.models, cell: (one) => one.compatible_models.join(", ") || texts.any, isOptional: true },
      { title: texts.template, cell: (one) => one.template ?? "", isOptional: true, width: "8rem" },
      { title: texts.owner, cell: (one) => one.owner, isOptional: true, width: "8rem", isHidden: !session.seesPeople },
      {
        title: texts.changed,
        cell: (one) => ago(one.updated_at),
        text: (one) => one.updated_at,
        sort: "updated_at",
        isOptional: true,
        width: "10rem",
      },
    ],
    sort: query.get("sort") ?? "",
    sorted: search.keep,
    // What is in the profile of another person is for level 0.
    href: (one) =>
      session.isAdmin || one.user_uuid === session.me?.uuid
        ? `#/profiles/${one.uuid}`
        : `#/switch?profile=${one.uuid}`,
    empty: () => search.empty(texts.noProfiles),
    // This group of the API carries no total: a page that is not full is the last one.
    load: async (offset, limit, signal, sort) => {
      const path = withQuery("phone-profiles", { ...search.values(), offset, limit, sort });
      const { data } = await api.get(path, signal);
      const rows = await Promise.all(
        data.map(async (/** @type {Row} */ one) => ({ ...one, owner: await username(one.user_uuid) })),
      );
      return { rows, total: offset + data.length, isMore: data.length === limit };
    },
  });
}
