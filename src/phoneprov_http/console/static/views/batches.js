/** All batches, newest first. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { badge } from "../elements/facts.js";
import { heading, help } from "../elements/heading.js";
import { progressBar } from "../elements/progress.js";
import { sortedHere } from "../elements/sorted-here.js";
import { when } from "../format.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").Batch} Batch */

/** @type {import("../router.js").View} */
export async function view({ element }) {
  const list = /** @type {import("../elements/data-list.js").DataList<Batch>} */ (dataList());
  const add = h("a", { className: "button primary", href: "#/batches/new" }, texts.newBatch);
  element.classList.add("with-list");
  fill(element, heading(texts.batches, add, help("how-to/switch-a-floor")), list);
  /** @type {import("../elements/data-list.js").Column<Batch>[]} */
  const columns = [
    { title: texts.started, sort: "created_at", cell: (batch) => when(batch.created_at), text: (batch) => batch.created_at, width: "14.5rem" },
    { title: texts.action, sort: "action", cell: (batch) => texts.actions[batch.action], width: "5.5rem" },
    { title: texts.profile, sort: "profile", cell: profileOf, isOptional: true, width: "16.5rem" },
    { title: texts.state, sort: "state", cell: stateOf, width: "9rem" },
    {
      title: texts.progress,
      cell: ({ phones }) => h("span", {}, h("span", { "aria-hidden": true }, progressBar(phones)), texts.progressOf(phones)),
      text: ({ phones }) => texts.progressOf(phones),
    },
  ];
  await list.configure({
    caption: texts.batches,
    columns,
    href: (batch) => `#/batches/${batch.uuid}`,
    empty: () => texts.noBatches,
    load: sortedHere(columns, newestBatches),
  });
}

/** The profile of a batch; a restart has none. @param {Batch} batch */
export const profileOf = ({ action, profile_name: name }) => (action === "restart" ? "" : (name ?? texts.profileOnPhone));

/** The state of a batch: one with failures is no success. @param {Batch} batch */
export function stateOf({ state, phones }) {
  const isPartly = state === "done" && phones.failed + phones.unknown > 0;
  return isPartly ? badge("failed", { failed: texts.doneWithFailures }) : badge(state, texts.batchStates);
}

/** The API lists the oldest first: the newest stand on its last page.
 * @param {number} offset @param {number} limit @param {AbortSignal} signal */
export async function newestBatches(offset, limit, signal) {
  const total = await api.count("batches", {}, signal);
  const end = Math.max(0, total - offset);
  const start = Math.max(0, end - limit);
  if (end === start) return { rows: [], total };
  const { data } = await api.get(withQuery("batches", { offset: start, limit: end - start }), signal);
  return { rows: /** @type {Batch[]} */ (data.reverse()), total };
}
