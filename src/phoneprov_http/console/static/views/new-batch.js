/** A new batch: action, profile, phones by filter or list, pace; a confirmation that counts them. */

import { api, withQuery } from "../api.js";
import { count, fill, h, momentOf } from "../dom.js";
import { choices, listed, picker, recordForm } from "../elements/forms.js";
import { ask, errorBox, facts, heading, help, section } from "../elements/parts.js";
import { BATCH_PACE, ROLLOUT, SOFTWARE_TYPES, field } from "../fields.js";
import { go, keep, kept } from "../navigation.js";
import { texts } from "../texts.js";
import { labelOf } from "../texts/frame.js";
import { planned, rehearsed } from "./batches.js";
import { PROFILES, chosen, phoneNames, unknownOf } from "./shared.js";

const PAUSE_MS = 300;
const MAC = /^(?:[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/i;
const FILTERS = ["model", "location", "software_type", "template"];
const OF_SWITCHES = ["first", "first_minutes", "undo_on_stop", "only_changed", "newest"];

/** @param {"model" | "location"} by @returns {Promise<[string, string][]>} */
async function counted(by) {
  const { data } = await api.get(withQuery("phones/counts", { by, is_active: true }));
  return data
    .filter((/** @type {any} */ one) => one.value !== null)
    .map((/** @type {any} */ one) => [one.value, `${one.value} (${count(one.phones)})`]);
}

/** The batch that is repeated, with its phones in these states.
 * @param {URLSearchParams} query @param {AbortSignal} signal */
async function repeatedOf(query, signal) {
  if (query.has("selected")) {
    // The entry of the history has them still when the page is loaded again.
    if (!kept("chosen")) keep("chosen", chosen.macs);
    return { macs: kept("chosen") };
  }
  const uuid = query.get("repeat");
  if (!uuid) return query.has("macs") ? { macs: listed(query.get("macs") ?? "") } : {};
  const path = `batches/${encodeURIComponent(uuid)}`;
  const states = (query.get("states") ?? "failed,unknown").split(",");
  const { data: batch } = await api.get(path, signal);
  const phones = await Promise.all(states.map((state) => api.all(`${path}/phones`, { state }, signal)));
  return { ...batch, macs: phones.flat().map((one) => one.mac) };
}

/** A MAC address as people list it: also the name of a device, SEP and its digits. @param {string} text */
export const macOf = (text) => text.replace(/^SEP(?=[0-9a-f]{12}$)/i, "");

/** The parts of a pasted list that are no MAC addresses. @param {string[]} macs */
export const notMacs = (macs) => macs.filter((mac) => !MAC.test(mac));

/** @type {import("../router.js").View} */
export async function newBatchView({ element, query, signal }) {
  const [repeated, models, locations, templates] = await Promise.all([
    repeatedOf(query, signal),
    counted("model"),
    counted("location"),
    api.all("configuration-templates", {}, signal),
  ]);
  const names = [...new Set(templates.map(({ name }) => name))];
  const profile = picker({
    label: texts.profile,
    none: texts.profileOnPhone,
    chosen: repeated.profile_uuid ? `phone-profiles/${repeated.profile_uuid}` : "",
    path: choices("phone-profiles"),
    ...PROFILES,
    isOptional: true,
  });
  const said = h("p", { className: "hint", role: "status" });
  /** @type {import("../fields.js").Field[]} */
  const fields = [
    field("action", {
      isRequired: true,
      choices: [
        ["switch", texts.actions.switch],
        ["restart", texts.actions.restart],
      ],
    }),
    field("model", { choices: models, empty: texts.any }),
    field("location", { choices: locations, empty: texts.any }),
    field("software_type", { choices: SOFTWARE_TYPES, empty: texts.any }),
    field("template", { choices: names.map((one) => [one, one]), empty: texts.any }),
    field("macs", { kind: "area", hint: texts.macsHint }),
    ...BATCH_PACE,
    ...ROLLOUT,
  ];
  const record = {
    action: "switch",
    at_once: 10,
    stop_after_failures: 25,
    wait_minutes: 60,
    first_minutes: 10,
    ...repeated,
    start_at: null,
    // These selected the phones of the repeated batch.
    ...(repeated.macs ? { model: null, location: null, software_type: null, template: null } : {}),
    macs: repeated.macs?.join("\n"),
  };
  const { form, values } = recordForm(fields, record, save, {
    button: texts.startBatch,
    said: ({ data }) => `${data.state === "planned" ? texts.batchStates.planned : texts.started}: ${texts.batchTitle(texts.actions[data.action], data.phones.total)}`,
    saved: ({ data }) => go(`/batches/${data.uuid}`),
  });

  /** What is sent: a list of phones or filters. @param {Record<string, any>} all */
  function orderOf(all) {
    const { macs, ...rest } = all;
    const list = listed(macs ?? "").map(macOf);
    /** @type {Record<string, any>} */
    const order = { ...rest, ...(list.length > 0 ? { macs: list } : {}) };
    if (list.length > 0) for (const name of FILTERS) delete order[name];
    if (order.action !== "switch") for (const name of OF_SWITCHES) delete order[name];
    if (order.start_at) order.start_at = momentOf(order.start_at);
    if (profile.value() && order.action === "switch") order.profile_uuid = profile.value();
    return order;
  }

  /** @param {Record<string, any>} order */
  async function phonesOf(order) {
    if (order.macs) return new Set(order.macs.map((/** @type {string} */ mac) => mac.replace(/[:.-]/g, "").toLowerCase())).size;
    const filters = Object.fromEntries(FILTERS.map((name) => [name, order[name]]));
    if (!Object.values(filters).some(Boolean)) return null;
    if (filters.template) return (await api.post("batches/plan", order, signal)).data.phones;
    return api.count("phones", { ...filters, is_active: true }, signal);
  }

  /** The filters of an order in words. @param {Record<string, any>} order */
  const filtersOf = (order) =>
    FILTERS.filter((name) => order[name])
      .map((name) => `${labelOf(name).toLowerCase()} ${order[name]}`)
      .join(", ");

  /** What is wrong with the list of an order, in words. @param {Record<string, any>} order */
  async function problemOf({ macs = [] }) {
    const wrong = notMacs(macs);
    if (wrong.length > 0) return texts.notMacs(wrong);
    const unknown = await unknownOf(macs, signal);
    return unknown.length > 0 ? texts.notInInventory(unknown) : "";
  }

  /** @param {Record<string, any>} all */
  async function save(all) {
    const order = orderOf(all);
    const problem = await problemOf(order);
    if (problem) {
      tell(problem, true);
      return null;
    }
    const number = order.only_changed && changing !== null ? changing : await phonesOf(order);
    if (number !== null) {
      const action = texts.actions[order.action];
      const details = h(
        "div",
        {},
        facts([
          [texts.whichPhones, order.macs ? texts.byList : texts.byFilter(filtersOf(order))],
          ...(order.action === "switch"
            ? [/** @type {[string, string]} */ ([texts.profile, profile.text()])]
            : []),
        ]),
        h("p", {}, texts.startBatchHint),
      );
      const question = texts.startBatchQuestion(action, number);
      if (!(await ask(question, texts.startBatch, { details }))) return null;
    }
    return api.post("batches", order);
  }

  /** The number of phones that the plan of this very order changes. @type {number | null} */
  let changing = null;
  /** @type {number | undefined} */
  let timer;
  form.addEventListener("input", () => {
    changing = null;
    clearTimeout(timer);
    timer = setTimeout(() => void say(), PAUSE_MS);
  });
  let turn = 0;
  async function say() {
    const own = (turn += 1);
    const order = orderOf(values());
    profile.element.hidden = order.action !== "switch";
    const isByTemplate = Boolean(order.template);
    const problem = await problemOf(order).catch(() => "");
    const number = problem || isByTemplate ? null : await phonesOf(order).catch(() => null);
    if (own !== turn) return;
    if (problem) tell(problem, true);
    else if (isByTemplate) tell(texts.templatePhones(filtersOf(order)));
    else tell(number === null ? texts.nothingChosen : texts.chosenPhones(number));
  }

  /** @param {string} text @param {boolean} [isProblem] */
  function tell(text, isProblem = false) {
    said.classList.toggle("problem", isProblem);
    said.textContent = text;
  }

  const [action, ...others] = form.querySelectorAll(".field");
  const phones = section(texts.whichPhones, ...others.slice(0, 5));
  const pace = section(texts.pace, ...others.slice(5, -ROLLOUT.length));
  action.after(profile.element, phones, pace, section(texts.rollout, ...others.slice(-ROLLOUT.length)));
  const result = h("div", { "aria-live": "polite" }, h("p", { className: "quiet" }, texts.planStart));
  const foreseen = h("div", { "aria-live": "polite" });
  const plan = h("button", { type: "button", onclick: () => showPlan() }, texts.plan);
  const rehearse = h("button", { type: "button", onclick: () => showRehearsal() }, texts.rehearse);
  const actions = /** @type {HTMLElement} */ (form.querySelector(".actions"));
  actions.append(plan, rehearse);
  const summary = h("div", { className: "summary" }, h("h2", {}, texts.summary), said, actions, result, foreseen);
  form.className = "beside";
  fill(form, h("div", { className: "record" }, ...form.children), summary);
  await profile.ready;
  fill(element, heading(texts.newBatch, help("how-to/switch-a-floor")), form);

  async function showPlan() {
    await show(result, texts.loading, async () => {
      const { data } = await api.post("batches/plan", sent(), signal);
      const start = () => {
        /** @type {HTMLInputElement} */ (form.querySelector("[name=only_changed]")).checked = true;
        changing = data.changed;
        form.requestSubmit();
      };
      const text = texts.startChanged(data.changed);
      const button = data.changed > 0 && h("button", { type: "button", onclick: start }, text);
      const macs = [...data.groups, ...data.problems].flatMap((one) => one.macs);
      fill(result, button, ...planned(data, await phoneNames(macs, signal)));
    });
  }

  async function showRehearsal() {
    await show(foreseen, texts.rehearsing, async () => {
      const { data } = await api.post("batches/rehearse", sent(), signal);
      const macs = data.first_failures.map((/** @type {{mac: string}} */ one) => one.mac);
      fill(foreseen, ...rehearsed(data, await phoneNames(macs, signal)));
    });
  }

  /** The order without its empty fields. */
  const sent = () => Object.fromEntries(Object.entries(orderOf(values())).filter(([, value]) => value !== null));

  /** @param {HTMLElement} place @param {string} meanwhile @param {() => Promise<void>} work */
  async function show(place, meanwhile, work) {
    plan.disabled = rehearse.disabled = true;
    fill(place, h("p", {}, meanwhile));
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) fill(place, errorBox(error));
    } finally {
      plan.disabled = rehearse.disabled = false;
    }
  }

  await say().catch((error) => fill(said, errorBox(error)));
}
