/** A new batch as a path: what, which phones, how careful, the plan, and a question with every choice. */

import { api, session, withQuery } from "../api.js";
import { count, fill, h } from "../dom.js";
import { MOST_CHOICES, choices, listed, picker, recordForm } from "../elements/forms.js";
import { ask, errorBox, facts, heading, help, section } from "../elements/parts.js";
import { BATCH_PACE, ROLLOUT, SOFTWARE_TYPES, field } from "../fields.js";
import { go, keep, kept } from "../navigation.js";
import { texts } from "../texts.js";
import { labelOf } from "../texts/frame.js";
import { planned, rehearsed } from "./batches.js";
import { PHONES, PROFILES, chosen, deployedOn, phoneNames, phoneTitle, phonesAmong } from "./shared.js";

const PAUSE_MS = 300;
/** The hour of the evening at which "tonight" begins. */
const EVENING = "22:00";
const FILTERS = ["model", "location", "software_type", "template"];
const OF_SWITCHES = ["first", "first_minutes", "undo_on_stop", "only_changed", "newest"];
const TECHNICAL = ["first_minutes", "only_changed", "newest", "at_once", "per_minute", "stop_after_failures", "wait_minutes"];

/** @typedef {{phones: {line: number, mac: string, profile_uuid: string | null}[],
 *   problems: {line: number, message: string}[]}} PhoneList */

// Times of the page are those of the account's zone, in which its office is.

/** A moment as a clock in the zone shows it, to the second. @param {number} at @param {string} zone */
const wallOf = (at, zone) =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at).replace(" ", "T");

/** The moment at which a clock in the zone shows this. @param {string} local @param {string} zone */
export function momentIn(local, zone) {
  const wall = Date.parse(`${local}Z`);
  let at = wall;
  // Twice: the clocks may change between the first guess and the moment.
  for (const _ of [1, 2]) at = wall - (Date.parse(`${wallOf(at, zone)}Z`) - at);
  return new Date(at).toISOString();
}

/** The next evening in the zone. @param {number} now @param {string} zone */
export function tonight(now, zone) {
  for (const at of [now, now + 86_400_000]) {
    const local = `${wallOf(at, zone).slice(0, 10)}T${EVENING}`;
    if (Date.parse(momentIn(local, zone)) > now) return local;
  }
  return "";
}

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

/** @type {import("../router.js").View} */
export async function newBatchView({ element, query, signal }) {
  const zone = session.me?.timezone ?? "UTC";
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
  const said = h("div", { className: "hint", role: "status" });
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
    ...ROLLOUT.map((one) => (one.name === "start_at" ? { ...one, hint: texts.startAtHint(zone) } : one)),
    ...BATCH_PACE,
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
  /** @param {string} name */
  const input = (name) => /** @type {HTMLInputElement} */ (form.querySelector(`[name=${name}]`));
  /** @param {string} name */
  const part = (name) => /** @type {HTMLElement} */ (input(name).closest(".field"));

  /** The phones that were chosen to be first, with their titles. @type {Map<string, string>} */
  const firstPhones = new Map();
  const firstList = h("ul", { className: "plain" });
  const notFirst = h("p", { className: "hint", role: "status" });
  /** Of which phones the batch is: the list, or the filters of phones. @type {{macs: string[] | null, filters: Record<string, any>}} */
  let scope = { macs: null, filters: { model: null, location: null, software_type: null } };
  const firstPicker = picker({
    label: texts.addFirst,
    path: (q) =>
      scope.macs ? phonesAmong(scope.macs, { q }, signal, MOST_CHOICES) : choices("phones", "name", { ...scope.filters, is_active: "true" })(q),
    ...PHONES,
    isOptional: true,
    changed: () => {
      const row = firstPicker.row();
      firstPicker.clear();
      if (row) firstPhones.set(row.mac, phoneTitle(row));
      fill(notFirst);
      showFirst();
    },
  });

  /** The first phones are phones of the batch: the others are removed, and named.
   * @param {Record<string, any>} order @param {string[] | null} macs @returns {Promise<boolean>} whether all are */
  async function keepFirst({ model, location, software_type, template }, macs) {
    const now = { macs, filters: { model, location, software_type } };
    if (JSON.stringify(now) !== JSON.stringify(scope)) {
      scope = now;
      void firstPicker.reload();
    }
    if (firstPhones.size === 0 || (!macs && ![model, location, software_type, template].some(Boolean))) return true;
    const chosen = [...firstPhones.keys()];
    const found = macs ?? (await phonesAmong(chosen, { ...now.filters, is_active: true }, signal)).map(({ mac }) => mac);
    const isIn = await Promise.all(
      chosen.map(async (mac) => found.includes(mac) && (!template || (await deployedOn(`phones/${mac}`, signal)).current?.template_name === template)),
    );
    const removed = chosen.filter((_, place) => !isIn[place]);
    if (removed.length === 0) return true;
    fill(notFirst, texts.firstRemoved(removed.map((mac) => firstPhones.get(mac) ?? mac)));
    for (const mac of removed) firstPhones.delete(mac);
    showFirst();
    return false;
  }

  function showFirst() {
    const rows = [...firstPhones].map(([mac, title]) => {
      const drop = () => {
        firstPhones.delete(mac);
        showFirst();
      };
      return h("li", {}, title, " ", h("button", { type: "button", "aria-label": texts.notFirst(title), onclick: drop }, texts.notFirstAnyMore));
    });
    fill(firstList, ...rows);
    if (firstPhones.size > 0 || input("first").disabled) input("first").value = String(firstPhones.size || "");
    input("first").disabled = firstPhones.size > 0;
    form.dispatchEvent(new Event("input"));
  }

  /** The list as the server reads it; it is asked once for each text. @type {{text: string, found: Promise<PhoneList>}} */
  let asked = { text: "", found: Promise.resolve({ phones: [], problems: [] }) };
  /** @param {string} text */
  function listIn(text) {
    if (text !== asked.text) {
      const found = text.trim() ? api.post("batches/list", { text }, signal).then(({ data }) => data) : Promise.resolve({ phones: [], problems: [] });
      asked = { text, found };
      found.catch(() => (asked = { ...asked, text: "" }));
    }
    return asked.found;
  }

  /** What is sent, the lines that are wrong, and whether the first phones are as they were chosen: a list of
   * phones, or filters. */
  async function orderNow() {
    /** @type {Record<string, any>} */
    const { macs, ...order } = values();
    const { phones, problems } = await listIn(macs ?? "");
    const isSwitch = order.action === "switch";
    const isPaired = phones.some((one) => one.profile_uuid !== null);
    if (phones.length + problems.length > 0) {
      for (const name of FILTERS) delete order[name];
      if (isPaired && isSwitch) order.items = phones.map(({ mac, profile_uuid }) => ({ mac, profile_uuid }));
      else order.macs = phones.map(({ mac }) => mac);
    }
    const isAsChosen = !isSwitch || (await keepFirst(order, phones.length > 0 ? phones.map(({ mac }) => mac) : null));
    if (!isSwitch) for (const name of OF_SWITCHES) delete order[name];
    if (firstPhones.size > 0 && isSwitch) {
      delete order.first;
      order.first_macs = [...firstPhones.keys()];
    }
    if (order.start_at) order.start_at = momentIn(order.start_at, zone);
    if (profile.value() && isSwitch && !order.items) order.profile_uuid = profile.value();
    // Without a value each field has its default, but this one means never.
    const given = Object.entries(order).filter(([name, value]) => value !== null || name === "stop_after_failures");
    return { order: /** @type {Record<string, any>} */ (Object.fromEntries(given)), problems, isAsChosen };
  }

  /** @param {Record<string, any>} order */
  async function phonesOf(order) {
    const listed = order.items ?? order.macs;
    if (listed) return listed.length;
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

  /** Every choice of an order in words. @param {Record<string, any>} order @returns {[string, string][]} */
  function choicesOf(order) {
    const isSwitch = order.action === "switch";
    /** @param {string} name @param {string} none */
    const number = (name, none) => (order[name] ? count(order[name]) : none);
    /** @param {string} name */
    const yes = (name) => (order[name] ? texts.yes : texts.no);
    const first = order.first_macs ? [...firstPhones.values()].join(", ") : number("first", texts.allTogether);
    /** @type {[string, string][]} */
    const ofSwitch = [
      [texts.profile, order.items ? texts.profileOfList : profile.text()],
      [labelOf("first"), first],
      ...(order.first_macs || order.first ? [/** @type {[string, string]} */ ([labelOf("first_minutes"), count(order.first_minutes ?? 10)])] : []),
      [labelOf("undo_on_stop"), yes("undo_on_stop")],
      [labelOf("only_changed"), yes("only_changed")],
      [labelOf("newest"), yes("newest")],
    ];
    return [
      [texts.whichPhones, order.macs || order.items ? texts.byList : texts.byFilter(filtersOf(order))],
      [texts.startsAt, order.start_at ? texts.timeIn(wallOf(Date.parse(order.start_at), zone).slice(0, 16).replace("T", " "), zone) : texts.atOnce],
      ...(isSwitch ? ofSwitch : []),
      [labelOf("at_once"), number("at_once", "10")],
      [labelOf("per_minute"), number("per_minute", texts.noLimit)],
      [labelOf("stop_after_failures"), number("stop_after_failures", texts.neverStop)],
      [labelOf("wait_minutes"), String(order.wait_minutes ?? 60)],
    ];
  }

  async function save() {
    const { order, problems, isAsChosen } = await orderNow();
    if (problems.length > 0) tellProblems(problems);
    if (problems.length > 0 || !isAsChosen) return null;
    const number = order.only_changed && changing !== null ? changing : await phonesOf(order);
    if (number !== null) {
      const details = h("div", {}, facts(choicesOf(order)), h("p", {}, texts.startBatchHint));
      const question = texts.startBatchQuestion(texts.actions[order.action], number);
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
    timer = setTimeout(() => void say().catch((error) => !signal.aborted && fill(said, errorBox(error))), PAUSE_MS);
  });
  let turn = 0;
  async function say() {
    const own = (turn += 1);
    const { order, problems } = await orderNow();
    const isSwitch = order.action === "switch";
    if (own !== turn) return;
    profile.element.hidden = !isSwitch || Boolean(order.items);
    for (const one of ofSwitches) one.hidden = !isSwitch;
    if (problems.length > 0) return tellProblems(problems);
    if (order.template) return tell(texts.templatePhones(filtersOf(order)));
    const number = await phonesOf(order).catch(() => null);
    if (own === turn) tell(number === null ? texts.nothingChosen : texts.chosenPhones(number));
  }

  /** @param {...import("../dom.js").Child} content */
  function tell(...content) {
    said.classList.remove("problem");
    fill(said, ...content);
  }

  /** @param {{line: number, message: string}[]} problems */
  function tellProblems(problems) {
    tell(texts.wrongLines(problems.length), h("ul", {}, ...problems.map(({ line, message }) => h("li", {}, texts.wrongLine(line, message)))));
    said.classList.add("problem");
  }

  /** Sets each choice that its name says, also against phones that were chosen to be first.
   * @param {string} name @param {boolean} isTonight @param {boolean} isCareful */
  const preset = (name, isTonight, isCareful) => {
    const press = () => {
      input("start_at").value = isTonight ? tonight(Date.now(), zone) : "";
      input("undo_on_stop").checked = isCareful;
      firstPhones.clear();
      fill(notFirst);
      showFirst();
      input("first").value = isCareful ? "3" : "";
    };
    return h("button", { type: "button", onclick: press }, name);
  };
  const careful = [preset(texts.presetNowCareful, false, true), preset(texts.presetTonight, true, true)];
  const presets = h("div", { className: "actions wide", role: "group", "aria-label": texts.presets }, preset(texts.presetNow, false, false), ...careful);
  const chosenFirst = h("div", {}, firstPicker.element, firstList, notFirst);
  const ofSwitches = [...careful, part("first"), chosenFirst, part("undo_on_stop"), ...["first_minutes", "only_changed", "newest"].map(part)];
  const technical = h("details", { className: "wide" }, h("summary", {}, texts.technical), h("div", { className: "record" }, ...TECHNICAL.map(part)));
  part("action").after(
    profile.element,
    section(texts.whichPhones, ...FILTERS.map(part), part("macs")),
    section(texts.howCareful, presets, part("start_at"), part("first"), chosenFirst, part("undo_on_stop"), technical),
  );
  const result = h("div", { "aria-live": "polite" }, h("p", { className: "quiet" }, texts.planStart));
  const foreseen = h("div", { "aria-live": "polite" });
  const plan = h("button", { type: "button", onclick: () => showPlan() }, texts.plan);
  const rehearse = h("button", { type: "button", onclick: () => showRehearsal() }, texts.rehearse);
  const actions = /** @type {HTMLElement} */ (form.querySelector(":scope > .actions"));
  actions.append(plan, rehearse);
  const summary = h("div", { className: "summary" }, h("h2", {}, texts.summary), said, actions, result, foreseen);
  form.className = "beside";
  fill(form, h("div", { className: "record" }, ...form.children), summary);
  await Promise.all([profile.ready, firstPicker.ready]);
  fill(element, heading(texts.newBatch, help("how-to/switch-a-floor")), form);

  async function showPlan() {
    await show(result, texts.loading, async (order) => {
      const { data } = await api.post("batches/plan", order, signal);
      const start = () => {
        input("only_changed").checked = true;
        changing = data.changed;
        form.requestSubmit();
      };
      const text = texts.startChanged(data.changed);
      const button = data.changed > 0 && h("button", { type: "button", onclick: start }, text);
      const macs = [...data.groups, ...data.problems].flatMap((one) => one.macs);
      const first = data.first.map((/** @type {{mac: string}} */ one) => one.mac);
      fill(result, button, ...planned(data, await phoneNames([...macs, ...first], signal)));
    });
  }

  async function showRehearsal() {
    await show(foreseen, texts.rehearsing, async (order) => {
      const { data } = await api.post("batches/rehearse", order, signal);
      const macs = data.first_failures.map((/** @type {{mac: string}} */ one) => one.mac);
      fill(foreseen, ...rehearsed(data, await phoneNames(macs, signal)));
    });
  }

  /** @param {HTMLElement} place @param {string} meanwhile
   * @param {(order: Record<string, any>) => Promise<void>} work */
  async function show(place, meanwhile, work) {
    plan.disabled = rehearse.disabled = true;
    fill(place, h("p", {}, meanwhile));
    try {
      const { order, problems } = await orderNow();
      if (problems.length === 0) await work(order);
      else {
        fill(place);
        tellProblems(problems);
      }
    } catch (error) {
      if (!signal.aborted) fill(place, errorBox(error));
    } finally {
      plan.disabled = rehearse.disabled = false;
    }
  }

  await say().catch((error) => fill(said, errorBox(error)));
}
