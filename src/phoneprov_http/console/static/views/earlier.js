/** The phones of an earlier moment, and the way back to it. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { badge } from "../elements/facts.js";
import { ask } from "../elements/dialog.js";
import { errorBox } from "../elements/error-box.js";
import { heading, help } from "../elements/heading.js";
import { searchBar } from "../elements/search-bar.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { when } from "../format.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { phoneNames } from "./accounts.js";
import { momentOf } from "./deployments.js";
import { planned } from "./plan.js";

const PAGE = 200;

/** @typedef {import("../../types").PastPhone} PastPhone */

/** @type {import("../router.js").View} */
export async function view({ element, query, signal }) {
  /** @type {PastPhone[]} */
  let rows = [];
  const place = h("div", { className: "rows", "aria-live": "polite" });
  const plan = h("div", { "aria-live": "polite" });
  const more = h("button", { hidden: true, onclick: () => load(false) }, texts.morePhones);
  const back = h("button", { className: "primary", hidden: true, onclick: () => showPlan() }, texts.planWayBack);
  const locations = (await api.get(withQuery("phones/counts", { by: "location" }), signal)).data;
  const search = searchBar(
    "/history",
    [
      { name: "at", label: texts.moment, kind: "datetime-local" },
      {
        name: "location",
        label: texts.location,
        choices: locations.map((/** @type {any} */ { value }) => value).filter(Boolean).map((/** @type {string} */ one) => [one, one]),
      },
    ],
    query,
    () => void load(true),
    { isSearched: false },
  );

  /** What is sent: the moment and the location of then. */
  const wanted = () => {
    const { at, location } = search.values();
    return { at: momentOf(at), location };
  };

  let turn = 0;
  /** The newest request is shown, whichever is answered last. @param {boolean} anew */
  async function load(anew) {
    const own = (turn += 1);
    more.hidden = true;
    if (anew) fill(plan);
    const after = anew ? "" : (rows.at(-1)?.mac ?? "");
    try {
      /** @type {PastPhone[]} */
      const found = (await api.get(withQuery("history/phones", { ...wanted(), after, limit: PAGE }), signal)).data;
      if (own !== turn) return;
      rows = anew ? found : [...rows, ...found];
      more.hidden = found.length < PAGE;
      back.hidden = rows.length === 0 || wanted().at === "";
      fill(place, table(rows));
    } catch (error) {
      if (signal.aborted || own !== turn) return;
      back.hidden = true;
      fill(place, errorBox(error));
    }
  }

  async function showPlan() {
    const { at, location } = wanted();
    const order = { action: "switch", as_of: at, ...(location ? { location } : {}) };
    back.disabled = true;
    fill(plan, h("p", {}, texts.loading));
    try {
      const { data } = await api.post("batches/plan", order, signal);
      const macs = [...data.groups, ...data.problems, ...data.notes].flatMap((one) => one.macs);
      const start = h("button", { className: "primary", onclick: () => restore(order, data.changed) }, texts.startWayBack(data.changed));
      fill(plan, data.changed > 0 && start, ...planned(data, await phoneNames(macs, signal)));
    } catch (error) {
      if (!signal.aborted) fill(plan, errorBox(error));
    } finally {
      back.disabled = false;
    }
  }

  /** @param {Record<string, any>} order @param {number} changed */
  async function restore(order, changed) {
    const details = h("p", {}, texts.startBatchHint);
    if (!(await ask(texts.wayBackQuestion(changed), texts.startBatch, { details }))) return;
    try {
      go(`/batches/${(await api.post("batches", order)).data.uuid}`);
    } catch (error) {
      fill(plan, errorBox(error));
    }
  }

  element.classList.add("with-list");
  fill(element, heading(texts.earlier, back, help("how-to/bring-a-floor-back")), search.element, plan, place, more);
  await load(true);
}

/** @param {PastPhone[]} rows */
function table(rows) {
  return simpleTable(
    texts.earlier,
    [texts.phone, [texts.location, "wide-only"], texts.profileAndRevision, texts.deskUser, texts.lines, [texts.fleetState, "roomy"], sentences(texts.message)],
    rows.map((one) => [
      h("a", { href: `#/phones/${one.mac}`, title: one.mac }, one.name || one.mac),
      one.location,
      one.deployment_uuid && h("a", { href: `#/deployments/${one.deployment_uuid}` }, `${one.profile_name}, ${one.revision}`),
      one.username ?? (one.user_uuid ? texts.deletedAccount : ""),
      one.lines === null ? texts.notKnown : one.lines.join(", "),
      one.state ? badge(one.state, texts.states) : "",
      one.message ?? (one.deployed_at ? when(one.deployed_at) : ""),
    ]),
    texts.noPhonesThen,
  );
}
