/** All batches, newest first. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { badge } from "../elements/facts.js";
import { texts } from "../texts.js";

/** @type {import("../router.js").View} */
export async function view({ element }) {
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, texts.batches),
      h("a", { className: "button primary", href: "#/batches/new" }, texts.newBatch),
    ),
    list,
  );
  const { metadata } = await api.get("batches?limit=1");
  const total = metadata.total ?? 0;
  await list.configure({
    caption: texts.batches,
    columns: [
      { title: texts.started, cell: (batch) => texts.when(batch.created_at), width: "14rem" },
      { title: texts.action, cell: (batch) => texts.actions[batch.action] },
      { title: texts.profile, cell: (batch) => batch.profile_name, isOptional: true },
      { title: texts.state, cell: (batch) => badge(batch.state, texts.batchStates) },
      { title: texts.progress, cell: (batch) => texts.progressOf(batch.phones) },
    ],
    href: (batch) => `#/batches/${batch.uuid}`,
    // The API lists the oldest first: the newest stand on its last page.
    load: async (offset, limit, signal) => {
      const end = Math.max(0, total - offset);
      const start = Math.max(0, end - limit);
      if (end === start) return { rows: [], total };
      const path = withQuery("batches", { offset: start, limit: end - start });
      const { data } = await api.get(path, signal);
      return { rows: data.reverse(), total };
    },
  });
}
