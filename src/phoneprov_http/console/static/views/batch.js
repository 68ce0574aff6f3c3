/** One batch, followed while it runs. */

import { api, pause, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { ask } from "../elements/dialog.js";
import { badge, facts } from "../elements/facts.js";
import { notice } from "../elements/notice.js";
import { texts } from "../texts.js";

const POLL_MS = 2000;

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], signal }) {
  const path = `batches/${encodeURIComponent(uuid)}`;
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const summary = h("div", { "aria-live": "polite" });
  const cancel = h("button", { className: "danger", onclick: () => stop(path) }, texts.cancelBatch);
  const again = h(
    "a",
    { className: "button", href: `#${withQuery("/batches/new", { repeat: uuid })}` },
    texts.repeatFailed,
  );
  let { data: batch } = await api.get(path, signal);

  function draw() {
    fill(
      summary,
      h("progress", {
        max: Math.max(batch.phones.total, 1),
        value: batch.phones.done + batch.phones.failed + batch.phones.left_out,
        "aria-label": texts.progress,
      }),
      facts([
        [texts.state, badge(batch.state, texts.batchStates)],
        [texts.progress, texts.progressOf(batch.phones)],
        [texts.profile, batch.profile_name ?? texts.profileOnPhone],
        [texts.started, texts.when(batch.created_at)],
        [texts.ended, texts.when(batch.ended_at)],
        ...(batch.message ? [pair(texts.message, batch.message)] : []),
      ]),
    );
    cancel.hidden = batch.ended_at !== null || batch.state !== "running";
    again.hidden = batch.ended_at === null || batch.phones.failed === 0;
  }

  draw();
  fill(
    element,
    h("div", { className: "heading" }, h("h1", {}, texts.batch), cancel, again),
    summary,
    list,
  );
  await list.configure({
    caption: texts.phones,
    columns: [
      { title: texts.mac, cell: (one) => one.mac, width: "11rem" },
      { title: texts.state, cell: (one) => badge(one.state, texts.itemStates), width: "8rem" },
      { title: texts.message, cell: (one) => one.message },
      { title: texts.ended, cell: (one) => texts.when(one.ended_at), isOptional: true },
    ],
    href: (one) => (one.deployment_uuid ? `#/deployments/${one.deployment_uuid}` : `#/phones/${one.mac}`),
    load: async (offset, limit, abort) => {
      const { data, metadata } = await api.get(
        withQuery(`${path}/phones`, { offset, limit }),
        abort,
      );
      return { rows: data, total: metadata.total ?? data.length };
    },
  });
  void follow().catch(() => {});

  async function follow() {
    while (batch.ended_at === null) {
      await pause(POLL_MS, signal);
      batch = (await api.get(path, signal)).data;
      draw();
      await list.refresh();
    }
  }
}

/** @param {string} path */
async function stop(path) {
  if (!(await ask(texts.cancelBatchQuestion, texts.cancelBatch, { isDangerous: true }))) return;
  const { message } = await api.remove(path);
  notice(message);
}

/** @param {string} name @param {string} value @returns {[string, string]} */
function pair(name, value) {
  return [name, value];
}
