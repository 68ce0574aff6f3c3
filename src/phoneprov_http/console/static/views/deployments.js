/** All deployments, newest first: "what failed last night". */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { heading, help } from "../elements/heading.js";
import { searchBar } from "../elements/search-bar.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { EXPORT_PAGE, tableTools } from "../elements/table-tools.js";
import { when } from "../format.js";
import { texts } from "../texts.js";
import { phoneNames, username } from "./accounts.js";
import { batchButton } from "./chosen-phones.js";
import { outcomeOf, problemOf } from "./deployment.js";

const PAGE = 100;

/** @typedef {import("../../types").Deployment} Deployment */

/** A moment of the browser's zone as the API wants it. @param {string} local */
export const momentOf = (local) => (local ? new Date(local).toISOString() : "");

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  /** @type {(Deployment & {by: string, name: string})[]} */
  let rows = [];
  const place = h("div", { className: "rows", "aria-live": "polite" });
  element.classList.add("with-list");
  const batch = h("span");
  const tools = tableTools(texts.deployments, pages, () => load(true));
  const more = h("button", { hidden: true, onclick: () => load(false) }, texts.older);
  const search = searchBar(
    "/deployments",
    [
      { name: "outcome", label: texts.outcome, choices: Object.entries(texts.outcomes) },
      { name: "since", label: texts.since, kind: "datetime-local" },
      { name: "until", label: texts.until, kind: "datetime-local" },
      { name: "mac", label: texts.mac },
    ],
    query,
    () => void load(true),
    { isSearched: false },
  );

  /** The deployments before this one that match the filters.
   * @param {Record<string, string>} values @param {string} before @param {number} limit */
  async function older({ since, until, ...filters }, before, limit) {
    const path = withQuery("deployments", {
      ...filters,
      since: momentOf(since),
      until: momentOf(until),
      before,
      limit,
    });
    /** @type {Deployment[]} */
    const found = (await api.get(path, signal)).data;
    const names = await phoneNames(found.map(({ mac }) => mac), signal);
    return Promise.all(
      found.map(async (one) => ({ ...one, by: await username(one.user_uuid), name: names.get(one.mac) ?? "" })),
    );
  }

  async function* pages() {
    const values = search.values();
    /** @type {string | undefined} */
    let before = NEWEST;
    while (before) {
      const found = await older(values, before, EXPORT_PAGE);
      yield table(found);
      before = found.length < EXPORT_PAGE ? undefined : found.at(-1)?.uuid;
    }
  }

  let turn = 0;
  /** The newest request is shown, whichever is answered last. @param {boolean} anew */
  async function load(anew) {
    const own = (turn += 1);
    if (anew) more.hidden = true;
    const before = (anew ? undefined : rows.at(-1)?.uuid) ?? NEWEST;
    try {
      const found = await older(search.values(), before, PAGE);
      if (own !== turn) return;
      rows = anew ? found : [...rows, ...found];
      more.hidden = found.length < PAGE;
      fill(place, table(rows));
      tools.say(rows.length, !more.hidden);
      fill(batch, rows.length > 0 && batchButton(rows.map(({ mac }) => mac), ""));
    } catch (error) {
      if (!signal.aborted && own === turn) fill(place, errorBox(error));
    }
  }

  fill(element, heading(texts.deployments, batch, help("how-to/put-back")), search.element, tools.element, place, more);
  await load(true);
}

/** @param {(Deployment & {by: string, name: string})[]} rows */
function table(rows) {
  return simpleTable(
    texts.deployments,
    [texts.at, texts.phone, [texts.mac, "wide-only"], [texts.action, "roomy"], texts.profileAndRevision, texts.outcome, [texts.by, "wide-only"], sentences(texts.message)],
    rows.map((one) => [
      h("a", { href: `#/deployments/${one.uuid}` }, when(one.created_at)),
      h("a", { href: `#/phones/${one.mac}`, title: one.mac }, one.name || one.mac),
      one.mac,
      texts.actions[one.action] ?? one.action,
      h("a", { href: `#/profiles/${one.profile_uuid}` }, `${one.profile_name}, ${one.revision}`),
      outcomeOf(one),
      one.by,
      problemOf(one),
    ]),
    texts.noDeployments,
  );
}
