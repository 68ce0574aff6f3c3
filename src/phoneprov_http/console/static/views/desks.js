/** The desks: who is logged in where, and the default profile of each phone. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help } from "../elements/heading.js";
import { searchBar, yesOrNo } from "../elements/search-bar.js";
import { ago } from "../format.js";
import { texts } from "../texts.js";
import { batchButton } from "./chosen-phones.js";

/** @typedef {import("../../types").PhoneSummary} PhoneSummary */

/** A summary with the field of the table of desks. @param {PhoneSummary} one */
const desk = (one) => ({ ...one, hotdesk: one.use.hotdesk });

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  const list = /** @type {import("../elements/data-list.js").DataList<PhoneSummary>} */ (dataList());
  const search = searchBar(
    "/desks",
    [yesOrNo("in_use", texts.onlyUsed)],
    query,
    () => void list.reload(),
    { list },
  );
  element.classList.add("with-list");
  fill(element, heading(texts.desks, help("how-to/hot-desking")), search.element, list);
  await list.configure({
    caption: texts.desks,
    name: "desks",
    table: ["mac", "hotdesk"],
    columns: [
      { title: texts.mac, field: "mac", cell: (one) => one.mac, sort: "mac", width: "11.5rem" },
      { title: texts.name, cell: (one) => one.name, sort: "name" },
      { title: texts.location, cell: (one) => one.location, sort: "location", isOptional: true },
      { title: texts.deskUser, cell: (one) => one.use.username, sort: "username" },
      {
        title: texts.since,
        cell: (one) => ago(one.use.since),
        text: (one) => one.use.since,
        isOptional: true,
        width: "9rem",
      },
      { title: texts.profile, cell: (one) => one.use.profile_name, sort: "profile_name", isOptional: true },
      { title: texts.defaultProfile, cell: (one) => one.use.default_profile_name },
      { title: texts.hotdesk, field: "hotdesk", cell: (one) => (one.use.hotdesk ? texts.yes : texts.no), isOptional: true, width: "10rem" },
    ],
    sort: query.get("sort") ?? "",
    sorted: search.keep,
    key: (one) => one.mac,
    actions: (macs) => [batchButton(macs)],
    href: (one) => `#/phones/${one.mac}?tab=desk`,
    empty: () => search.empty(texts.noDesks),
    load: async (offset, limit, signal, sort) => {
      const path = withQuery("phones/summaries", { ...search.values(), offset, limit, sort });
      const { data, metadata } = await api.get(path, signal);
      return { rows: data.map(desk), total: metadata.total ?? data.length };
    },
  });
}
