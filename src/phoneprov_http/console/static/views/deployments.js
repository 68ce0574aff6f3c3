/** Changes of phones, one change, and the phones of an earlier moment with the way back. */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h, momentOf, update, when } from "../dom.js";
import { stepTimeline } from "../elements/chart.js";
import { ask, badge, errorBox, facts, heading, help, sentences, simpleTable } from "../elements/parts.js";
import { growing, searchBar, tableTools } from "../elements/search-bar.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { inWords } from "../texts/frame.js";
import { planned } from "./batches.js";
import { batchButton, follow, isOver, nextSteps, phoneNames, phoneTitle, problemOf, username } from "./shared.js";

/** @typedef {import("../../types").Deployment} Deployment */
/** @typedef {import("../../types").PastPhone} PastPhone */

// One deployment, followed until its confirmation is known.

/** @type {import("../router.js").View} */
export async function deploymentView({ element, parameters: [uuid], signal }) {
  const path = `deployments/${encodeURIComponent(uuid)}`;
  const { data } = await api.get(path, signal);
  const [by, names] = await Promise.all([username(data.user_uuid), phoneNames([data.mac], signal)]);
  const phone = phoneTitle({ mac: data.mac, name: names.get(data.mac) });
  draw(element, data, phone, by);
  void follow(path, data, signal, (deployment) => draw(element, deployment, phone, by)).catch(() => {});
}

/** The outcome in one word: that the phone was not seen again counts more than the upload.
 * @param {Deployment} deployment */
export function outcomeOf({ outcome, confirmation }) {
  const isOpen = outcome === "deployed" && ["pending", "not_confirmed"].includes(confirmation);
  return isOpen ? badge(confirmation, texts.confirmations) : badge(outcome, texts.outcomes);
}

/** @param {HTMLElement} element @param {Deployment} deployment @param {string} phone @param {string} by */
function draw(element, deployment, phone, by) {
  const { mac, profile_uuid, profile_name, revision, message } = deployment;
  const isOfStep = deployment.steps.some((step) => step.message === message);
  update(
    element,
    heading(`${texts.actions[deployment.action] ?? deployment.action}: ${phone}`, help("how-to/put-back")),
    facts([
      [texts.outcome, badge(deployment.outcome, texts.outcomes)],
      ...(message && !isOfStep ? [/** @type {[string, string]} */ ([texts.message, inWords(message)])] : []),
      [texts.phone, h("a", { href: `#/phones/${mac}` }, phone)],
      [
        texts.profile,
        h("a", { href: `#/profiles/${profile_uuid}` }, texts.profileRevision(profile_name, revision)),
      ],
      [texts.at, when(deployment.created_at)],
      [texts.by, by],
    ]),
    h("div", { "aria-live": "polite" }, stepTimeline(deployment)),
    deployment.outcome !== "deployed" && isOver(deployment) && nextSteps([withQuery("/switch", { mac, profile: profile_uuid }), texts.switchAgain], [`/phones/${mac}`, texts.phone]),
  );
}

// All deployments, newest first: "what failed last night".

const PAGE = 100;

/** @type {import("../router.js").View} */
export async function deploymentsView({ element, query, signal }) {
  element.classList.add("with-list");
  const batch = h("span");
  const tools = tableTools(texts.deployments, () => pathOf(search.values()), () => rows.load());
  const search = searchBar(
    "/deployments",
    [
      { name: "outcome", label: texts.outcome, choices: Object.entries(texts.outcomes) },
      { name: "since", label: texts.since, kind: "datetime-local" },
      { name: "until", label: texts.until, kind: "datetime-local" },
      { name: "mac", label: texts.mac },
    ],
    query,
    () => void rows.load(),
    { isSearched: false },
  );

  /** @param {Record<string, string>} filters @param {{before?: string, limit?: number}} [page] */
  const pathOf = ({ since, until, ...filters }, page) =>
    withQuery("deployments", { ...filters, since: momentOf(since), until: momentOf(until), ...page });

  const rows = growing(table, signal, {
    said: tools.say,
    changed: (all) => fill(batch, all.length > 0 && batchButton(all.map(({ mac }) => mac), "")),
    page: async (before = NEWEST) => {
      /** @type {Deployment[]} */
      const found = (await api.get(pathOf(search.values(), { before, limit: PAGE }), signal)).data;
      const names = await phoneNames(found.map(({ mac }) => mac), signal);
      return {
        rows: await Promise.all(found.map(async (one) => ({ ...one, by: await username(one.user_uuid), name: names.get(one.mac) ?? "" }))),
        next: found.length < PAGE ? undefined : found.at(-1)?.uuid,
      };
    },
  });
  fill(element, heading(texts.deployments, batch, help("how-to/put-back")), search.element, tools.element, rows.place, rows.more);
  await rows.load();
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

// The phones of an earlier moment, and the way back to it.

const PAST_PAGE = 200;

/** @type {import("../router.js").View} */
export async function earlierView({ element, query, signal }) {
  const plan = h("div", { "aria-live": "polite" });
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
    () => void rows.load(),
    { isSearched: false },
  );

  /** What is sent: the moment and the location of then. */
  const wanted = () => {
    const { at, location } = search.values();
    return { at: momentOf(at), location };
  };

  const rows = growing(pastTable, signal, {
    older: texts.morePhones,
    changed: (all) => {
      back.hidden = all.length === 0 || wanted().at === "";
    },
    page: async (after) => {
      if (after === undefined) fill(plan);
      /** @type {PastPhone[]} */
      const found = (await api.get(withQuery("history/phones", { ...wanted(), after, limit: PAST_PAGE }), signal)).data;
      return { rows: found, next: found.length < PAST_PAGE ? undefined : found.at(-1)?.mac };
    },
  });

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
  fill(element, heading(texts.earlier, back, help("how-to/bring-a-floor-back")), search.element, plan, rows.place, rows.more);
  await rows.load();
}

/** @param {PastPhone[]} rows */
function pastTable(rows) {
  return simpleTable(
    texts.earlier,
    [texts.phone, [texts.mac, "wide-only"], [texts.location, "wide-only"], texts.profileAndRevision, texts.deskUser, texts.lines, [texts.fleetState, "roomy"], texts.lastChange, sentences(texts.message)],
    rows.map((one) => [
      h("a", { href: `#/phones/${one.mac}`, title: one.mac }, one.name || one.mac),
      one.mac,
      one.location,
      one.deployment_uuid && h("a", { href: `#/deployments/${one.deployment_uuid}` }, `${one.profile_name}, ${one.revision}`),
      one.username ?? (one.user_uuid ? texts.deletedAccount : ""),
      one.lines === null ? texts.notKnown : one.lines.join(", "),
      one.state ? badge(one.state, texts.states) : "",
      when(one.deployed_at),
      one.message ?? "",
    ]),
    texts.noPhonesThen,
  );
}
