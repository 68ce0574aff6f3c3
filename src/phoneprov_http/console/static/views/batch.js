/** One batch, followed while it runs. */

import { api, withQuery } from "../api.js";
import { fill, h, update } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { ask } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { badge, facts, meaningOf } from "../elements/facts.js";
import { auditLink, heading, help } from "../elements/heading.js";
import { notice } from "../elements/notice.js";
import { progressBar } from "../elements/progress.js";
import { searchBar } from "../elements/search-bar.js";
import { ago, count, when } from "../format.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";
import { pause } from "../transport.js";
import { phoneNames, username } from "./accounts.js";
import { profileOf, stateOf } from "./batches.js";
import { batchButton } from "./chosen-phones.js";

const POLL_MS = 2000;
const MOST_EXPLAINED = 500;

/** @typedef {import("../../types").BatchPhone & {name?: string}} BatchPhone */

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], query, signal }) {
  const path = `batches/${encodeURIComponent(uuid)}`;
  const list = /** @type {import("../elements/data-list.js").DataList<BatchPhone>} */ (dataList());
  const summary = h("div", { "aria-live": "polite" });
  const cancel = h("button", { className: "danger", onclick: () => stop(cancel, path) }, texts.cancelBatch);
  /** @param {string} states @param {string} text */
  const again = (states, text) =>
    h("a", { className: "button", href: `#${withQuery("/batches/new", { repeat: uuid, states })}` }, text);
  const repeat = again("failed,unknown", texts.repeatFailed);
  const rest = again("left_out,failed,unknown", texts.continueBatch);
  /** @type {import("../../types").Batch} */
  let batch = (await api.get(path, signal)).data;
  const by = await username(batch.user_uuid);
  const search = searchBar(
    `/batches/${uuid}`,
    [{ name: "state", label: texts.state, choices: Object.entries(texts.itemStates) }],
    query,
    () => void list.reload(),
    { isSearched: false },
  );

  function draw() {
    const { phones } = batch;
    update(
      summary,
      progressBar(phones, true),
      facts([
        [texts.state, stateOf(batch)],
        [texts.progress, texts.progressOf(phones)],
        ...(batch.action === "restart" ? [] : [/** @type {[string, string]} */ ([texts.profile, profileOf(batch)])]),
        [texts.whichPhones, [batch.model, batch.location, batch.software_type, batch.template].filter(Boolean).join(", ") || texts.byList],
        ...(batch.start_at
          ? [/** @type {[string, any]} */ ([texts.startsAt, when(batch.start_at)])]
          : [/** @type {[string, any]} */ ([texts.started, when(batch.created_at)])]),
        ...(batch.first ? [/** @type {[string, string]} */ ([texts.first, String(batch.first)])] : []),
        ...(batch.undo_on_stop ? [/** @type {[string, string]} */ ([texts.undoOnStop, texts.yes])] : []),
        ...(batch.newest ? [/** @type {[string, string]} */ ([texts.newest, texts.yes])] : []),
        ...(batch.undo_of
          ? [/** @type {[string, any]} */ ([texts.undoes, h("a", { href: `#/batches/${batch.undo_of}` }, texts.batch)])]
          : []),
        ...(batch.undone_by
          ? [/** @type {[string, any]} */ ([texts.undoneBy, h("a", { href: `#/batches/${batch.undone_by}` }, texts.batch)])]
          : []),
        [texts.by, by],
        ...(batch.ended_at ? [/** @type {[string, any]} */ ([texts.ended, when(batch.ended_at)])] : []),
      ], "across"),
      batch.message ? h("p", { className: `state ${meaningOf(batch.state)}` }, batch.message) : "",
    );
    cancel.hidden = batch.ended_at !== null || !["running", "planned"].includes(batch.state);
    repeat.hidden = batch.ended_at === null || phones.failed + phones.unknown === 0;
    rest.hidden = batch.ended_at === null || phones.left_out === 0;
  }

  const reasons = h("div");
  let explained = 0;
  /** Why phones failed, each reason in full with the number of its phones. */
  async function explain() {
    const { failed, unknown, left_out } = batch.phones;
    if (explained === failed + unknown + left_out) return;
    explained = failed + unknown + left_out;
    const states = ["failed", "unknown", "left_out"];
    const replies = await Promise.all(
      states.map((state) => api.get(withQuery(`${path}/phones`, { state, limit: MOST_EXPLAINED }), signal)),
    );
    fill(reasons, ...reasonsOf(replies.flatMap(({ data }) => data)));
  }

  draw();
  await explain();
  element.classList.add("with-list");
  const title = texts.batchTitle(texts.actions[batch.action], batch.phones.total);
  fill(element, heading(title, cancel, repeat, rest, auditLink(uuid), help("how-to/switch-a-floor")), summary, reasons, search.element, list);
  await list.configure({
    caption: texts.phones,
    columns: [
      { title: texts.mac, cell: (one) => one.mac, width: "11.5rem" },
      { title: texts.name, cell: (one) => one.name, width: "11rem" },
      { title: texts.state, cell: (one) => badge(one.state, texts.itemStates), width: "8rem" },
      { title: texts.message, cell: (one) => one.message && h("span", { title: inWords(one.message) }, inWords(one.message)) },
      { title: texts.ended, cell: (one) => ago(one.ended_at), text: (one) => one.ended_at, isOptional: true, width: "8rem" },
    ],
    key: (one) => one.mac,
    actions: (macs) => [batchButton(macs)],
    href: (one) => (one.deployment_uuid ? `#/deployments/${one.deployment_uuid}` : `#/phones/${one.mac}`),
    load: async (offset, limit, abort) => {
      const { data, metadata } = await api.get(
        withQuery(`${path}/phones`, { ...search.values(), offset, limit }),
        abort,
      );
      const names = await phoneNames(data.map((/** @type {BatchPhone} */ one) => one.mac), abort);
      const rows = data.map((/** @type {BatchPhone} */ one) => ({ ...one, name: names.get(one.mac) }));
      return { rows, total: metadata.total ?? data.length };
    },
  });
  void follow().catch(() => {});

  async function follow() {
    while (batch.ended_at === null) {
      await pause(POLL_MS, signal);
      batch = (await api.get(path, signal)).data;
      draw();
      await explain();
      await list.refresh();
    }
  }
}

/** An address with its port, or a MAC address: what differs in the same reason from phone to phone. */
const ADDRESS = /\b(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[0-9A-F]{2}(?::[0-9A-F]{2}){5})\b/g;

/** The messages of phones with their numbers, the most frequent first. Phones whose messages differ
 * by addresses alone have the same reason.
 * @param {BatchPhone[]} phones */
export function reasonsOf(phones) {
  const counts = new Map();
  for (const { message } of phones) {
    if (!message) continue;
    const said = inWords(message);
    const reason = said.replace(ADDRESS, "…");
    const known = counts.get(reason) ?? { said, number: 0 };
    counts.set(reason, { said: known.said === said ? said : reason, number: known.number + 1 });
  }
  if (counts.size === 0) return [];
  const rows = [...counts.values()].toSorted((one, other) => other.number - one.number);
  return [
    h("h2", {}, texts.reasons),
    h("ul", { className: "reasons" }, ...rows.map(({ said, number }) => h("li", {}, h("b", {}, count(number)), said))),
  ];
}

/** @param {HTMLButtonElement} button @param {string} path */
async function stop(button, path) {
  const details = h("p", {}, texts.cancelBatchHint);
  const isSure = await ask(texts.cancelBatchQuestion, texts.cancelBatch, { isDangerous: true, details });
  if (!isSure) return;
  button.disabled = true;
  try {
    await api.remove(path);
    notice(texts.batchCancelled);
  } catch (error) {
    notice(messageOf(error), "failed");
  } finally {
    button.disabled = false;
  }
}
