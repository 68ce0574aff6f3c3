/** People who join or leave in one act: a preview, then the act, then the way back. */

import { ApiError, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { badge, errorBox, heading, help, messageOf, notice, sentences, simpleTable } from "../elements/parts.js";
import { JOINER, field } from "../fields.js";
import { showAgain } from "../navigation.js";
import { texts } from "../texts.js";
import { tableInput } from "./import.js";
import { PEOPLE, PHONES, PROFILES } from "./shared.js";

/** @typedef {import("../../types").Moved} Moved */

/** @typedef {{path: string, fields: import("../fields.js").Field[], record: Record<string, any>,
 *   pickers: Record<string, ReturnType<typeof picker>>, rare: string[], usual: string[], shared: string[], words: {title: string, hint: string, button: string, table: string}}} Act */

/** @type {import("../router.js").View} */
export async function joinView({ element, parameters: [path], query }) {
  const act = path === "join" ? join() : leave(query.get("username") ?? "");
  const result = h("div", { "aria-live": "polite" });
  const outdated = () => fill(result);
  const input = tableInput(outdated);
  /** @type {Record<string, any> | null} */
  let body = null;
  const { form } = recordForm(
    act.fields,
    act.record,
    async (values) => {
      fill(result);
      body = bodyOf(act, values, input);
      try {
        const reply = await api.post(`people/${act.path}`, { ...body, dry_run: true });
        fill(result, ...preview(reply.data, act, write));
        result.scrollIntoView({ block: "nearest" });
        return null;
      } catch (error) {
        throw ofOnePerson(error, body?.people !== undefined);
      }
    },
    { button: texts.preview },
  );
  const several = h("details", { className: "wide" }, h("summary", {}, texts.peopleTable), h("div", { className: "record" }, h("p", { className: "hint wide" }, act.words.table), ...input.elements));
  const rare = act.rare.map((name) => form.querySelector(`[name=${name}]`)?.closest(".field") ?? "");
  const more = h("details", { className: "wide" }, h("summary", {}, texts.moreFields), h("div", { className: "record" }, ...rare));
  const pickers = Object.values(act.pickers).map(({ element }) => element);
  form.querySelector(".actions")?.before(...pickers, rare.length > 0 ? more : "", several);
  // What was previewed is what is written.
  form.addEventListener("input", outdated);
  form.addEventListener("change", outdated);

  async function write() {
    try {
      const { data, message } = await api.post(`people/${act.path}`, { ...body, dry_run: false });
      form.remove();
      fill(result, ...written(data, message));
    } catch (error) {
      fill(result, errorBox(error));
    }
  }

  await Promise.all(Object.values(act.pickers).map(({ ready }) => ready));
  fill(
    element,
    heading(act.words.title, help("how-to/joiners-and-leavers")),
    h("p", {}, act.words.hint),
    form,
    result,
  );
}

/** @returns {Act} */
function join() {
  const template = picker({
    label: texts.template,
    isOptional: true,
    none: texts.noProfile,
    path: () => "configuration-templates",
    option: ({ name }) => ({ value: name, text: name }),
  });
  const mac = picker({
    label: texts.desk,
    isOptional: true,
    path: choices("phones", "name", { is_active: "true" }),
    ...PHONES,
  });
  return {
    path: "join",
    fields: JOINER,
    record: { pin: true, directory: true },
    pickers: { template, mac },
    rare: ["extension_type", "department", "location", "pin", "directory"],
    usual: ["block", "template", "pin", "directory"],
    shared: [],
    words: { title: texts.joinTitle, hint: texts.joinHint, button: texts.joinNow, table: texts.joinTable },
  };
}

/** @param {string} username @returns {Act} */
function leave(username) {
  const successor = picker({
    label: texts.handOver,
    isOptional: true,
    none: texts.numbersFree,
    path: choices("users", "last_name", { is_active: "true" }),
    ...PEOPLE,
  });
  const vacant = picker({
    label: texts.vacant,
    isOptional: true,
    none: texts.emptyConfiguration,
    path: choices("phone-profiles"),
    ...PROFILES,
  });
  return {
    path: "leave",
    fields: [field("username", { isRequired: true })],
    record: { username },
    pickers: { hand_over_to: successor, vacant_profile_uuid: vacant },
    rare: [],
    usual: ["vacant_profile_uuid"],
    shared: ["vacant_profile_uuid"],
    words: { title: texts.leaveTitle, hint: texts.leaveHint, button: texts.leaveNow, table: texts.leaveTable },
  };
}

/** The request: the table if there is one, with what its people get otherwise; else the person of the form.
 * @param {Act} act @param {Record<string, any>} values @param {ReturnType<typeof tableInput>} input */
function bodyOf(act, values, input) {
  const chosen = Object.entries(act.pickers).map(([name, one]) => [name, one.value()]);
  const given = Object.fromEntries([...Object.entries(values), ...chosen].filter(([, value]) => value !== "" && value !== null));
  const only = (/** @type {(name: string) => boolean} */ is) => Object.fromEntries(Object.entries(given).filter(([name]) => is(name)));
  if (!input.isEmpty()) return { ...input.table(), ...only((name) => act.usual.includes(name)) };
  return { people: [only((name) => !act.shared.includes(name))], ...only((name) => act.shared.includes(name)) };
}

/** Problems of the only person stand beside the fields. @param {unknown} error @param {boolean} isOne */
function ofOnePerson(error, isOne) {
  if (!(error instanceof ApiError) || !isOne) return error;
  for (const one of error.details) one.field = one.field.replace(/^people\[0\]\.?/, "");
  return error;
}

/** @param {Moved} moved @param {Act} act @param {() => void} write */
function preview(moved, act, write) {
  return [
    h("h2", {}, texts.previewTitle),
    moved.unread_sheets.length > 0 && h("p", {}, texts.unreadSheets(moved.unread_sheets)),
    table(moved, texts.stepsForetold),
    h("div", { className: "actions" }, h("button", { className: "primary", onclick: write }, act.words.button)),
  ];
}

/** @param {Moved} moved @param {string} message */
function written(moved, message) {
  const hasPins = moved.people.some(({ pin }) => pin);
  return [
    h("h2", {}, message),
    hasPins && h("p", { className: "state wait" }, texts.pinsOnce),
    table(moved),
    h(
      "div",
      { className: "actions" },
      h("button", { className: "primary", onclick: showAgain }, texts.another),
      hasPins && h("button", { onclick: () => print() }, texts.print),
      moved.act && undoLink(moved.act),
      moved.act && h("a", { className: "button", href: `#${withQuery("/audit", { resource_id: moved.act })}` }, texts.audit),
    ),
  ];
}

/** Leads to the preview of an undo. @param {string} act */
export const undoLink = (act) =>
  h("a", { className: "button", href: `#${withQuery("/people/undo", { act })}` }, texts.undoAct);

/** The way back from an act, as long as its audit entries are kept. @type {import("../router.js").View} */
export async function undoView({ element, query, signal }) {
  const act = query.get("act") ?? "";
  const place = h("div", { "aria-live": "polite" });
  fill(element, heading(texts.undoTitle, help("how-to/joiners-and-leavers")), place);
  const { data } = await api.post("people/undo", { act, dry_run: true }, signal);
  const undo = async () => {
    try {
      const { data, message } = await api.post("people/undo", { act });
      fill(place, h("h2", {}, message), table(data));
    } catch (error) {
      fill(place, errorBox(error));
    }
  };
  const isDone = data.people.every((/** @type {any} */ one) => one.steps.every((/** @type {any} */ step) => step.outcome !== "done"));
  fill(
    place,
    h("h2", {}, texts.previewTitle),
    table(data, texts.stepsForetold),
    !isDone && h("div", { className: "actions" }, h("button", { className: "danger", onclick: undo }, texts.undoAct)),
  );
}

/** @param {Moved} moved @param {Record<string, string>} words */
function table({ people }, words = texts.stepOutcomes) {
  return simpleTable(
    texts.people,
    [texts.username, texts.number_, texts.pin, sentences(texts.actSteps)],
    people.map((one) => [
      one.user_uuid ? h("a", { href: `#/people/${one.user_uuid}` }, one.username) : one.username,
      one.number,
      one.pin && h("code", {}, one.pin),
      h(
        "ul",
        { className: "plain" },
        ...one.steps.map((step) => stepItem(step, words)),
      ),
    ]),
  );
}

/** A step; a switch that failed can be repeated. @param {Moved["people"][0]["steps"][0]} step @param {Record<string, string>} words
 * @returns {HTMLElement} */
function stepItem(step, words) {
  const { outcome, message, mac, profile_uuid } = step;
  const item = h("li", {}, badge(outcome, words), " ", message, " ");
  const again = async () => {
    try {
      const { data } = await api.post("phone-profiles/switch", { mac, profile_uuid });
      const isDone = data.restart === "ok";
      const text = isDone ? texts.hasProfile(data.mac, data.profile) : data.restart;
      const now = { ...step, message: text, ...(isDone ? { outcome: /** @type {const} */ ("done"), mac: null } : {}) };
      item.replaceWith(stepItem(now, words));
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  };
  if (mac) item.append(h("button", { onclick: again }, texts.tryAgain));
  return item;
}
