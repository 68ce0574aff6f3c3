/** The audit trail, newest first. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { searchBar } from "../elements/search-bar.js";
import { simpleTable } from "../elements/simple-table.js";
import { texts } from "../texts.js";

const PAGE = 100;

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  const place = h("div", { "aria-live": "polite" });
  const more = h("button", { hidden: true, onclick: () => void load(false) }, texts.older);
  /** @type {any[]} */
  let rows = [];
  const search = searchBar(
    [
      { name: "action", label: texts.action },
      { name: "resource", label: texts.resource },
      { name: "resource_id", label: texts.resourceId },
    ],
    query,
    (values) => {
      history.replaceState(null, "", `#${withQuery("/audit", values)}`);
      void load(true);
    },
  );
  search.element.querySelector('[name="q"]')?.closest(".field")?.remove();

  /** @param {boolean} anew */
  async function load(anew) {
    const { q, ...filters } = search.values();
    const before = anew ? undefined : rows[rows.length - 1]?.uuid;
    try {
      const path = withQuery("audit", { ...filters, limit: PAGE, before });
      const { data } = await api.get(path, signal);
      rows = anew ? data : [...rows, ...data];
      more.hidden = data.length < PAGE;
      fill(place, table(rows));
    } catch (error) {
      if (!signal.aborted) fill(place, errorBox(error));
    }
  }

  fill(element, h("h1", {}, texts.audit), search.element, place, more);
  await load(true);
}

/** @param {any[]} rows */
function table(rows) {
  return simpleTable(
    texts.audit,
    [texts.at, texts.actor, texts.action, texts.resourceId, texts.changes, texts.clientAddress],
    rows.map((row) => [
      texts.when(row.at),
      row.actor ?? texts.system,
      row.action,
      row.resource_id,
      h(
        "ul",
        { className: "plain" },
        ...Object.entries(row.changes ?? {}).map(([field, change]) =>
          h("li", {}, texts.change(field, change)),
        ),
      ),
      row.client_ip,
    ]),
  );
}
