/** One phone: what is on it, its deployments, modules, desk login and fetches. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { ask, show } from "../elements/dialog.js";
import { badge, facts } from "../elements/facts.js";
import { notice } from "../elements/notice.js";
import { recordForm } from "../elements/record-form.js";
import { simpleTable } from "../elements/simple-table.js";
import { stepTimeline } from "../elements/step-timeline.js";
import { go } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { optional, username } from "./accounts.js";
import { phoneFields } from "./phones.js";

const NEWEST = 20;
/** @type {import("../router.js").View} */
export async function view({ element, parameters: [mac], signal }) {
  const path = `phones/${encodeURIComponent(mac)}`;
  const [phone, deployments, modules, desk, fetches] = await Promise.all([
    api.get(path, signal).then(({ data }) => data),
    newestDeployments(path, signal),
    optional(api.get("vendor-kem", signal)),
    optional(api.get(`${path}/desk`, signal)),
    optional(api.get(`${path}/fetches?limit=20`, signal)),
  ]);
  const onPhone = deployments.find((/** @type {any} */ one) => one.place !== null);
  const by = onPhone ? await username(onPhone.user_uuid, signal) : "";
  const reload = () => go(`/phones/${mac}?at=${Date.now()}`);

  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, phone.name ? `${phone.name} (${phone.mac})` : phone.mac),
      h("a", { className: "button primary", href: `#/switch?mac=${phone.mac}` }, texts.switchPhone),
      onPhone &&
        h("button", { onclick: () => rollBack(path, phone.mac) }, texts.rollBack),
      session.mayWriteShared && h("button", { onclick: () => edit(path, phone, reload) }, texts.edit),
      session.mayWriteShared &&
        h("button", { className: "danger", onclick: () => remove(path, phone.mac) }, texts.remove),
    ),
    facts([
      [texts.model, phone.model],
      [texts.location, phone.location],
      [texts.address, phone.phone_ip],
      [texts.softwareType, phone.software_type],
      [texts.softwareVersion, phone.software_version],
      [texts.isActive, phone.is_active ? texts.yes : texts.no],
      [texts.description, phone.description],
    ]),
    section(texts.onPhone, onPhone ? current(onPhone, by) : h("p", {}, texts.nothingKnown)),
    desk && section(texts.desk, deskFacts(path, desk, reload)),
    section(
      texts.history,
      simpleTable(
        texts.history,
        [
          texts.at,
          texts.action,
          texts.profile,
          texts.revision,
          texts.outcome,
          texts.confirmation,
          texts.message,
        ],
        deployments.map((/** @type {any} */ one) => [
          h("a", { href: `#/deployments/${one.uuid}` }, texts.when(one.created_at)),
          texts.actions[one.action] ?? one.action,
          one.profile_name,
          one.revision,
          badge(one.outcome, texts.outcomes),
          badge(one.confirmation, texts.confirmations),
          problem(one),
        ]),
        texts.nothingKnown,
      ),
    ),
    modules &&
      section(
        texts.modules,
        simpleTable(
          texts.modules,
          [texts.model, texts.mac, texts.address],
          modules
            .filter((/** @type {any} */ kem) => kem.connected_phone === phone.mac)
            .map((/** @type {any} */ kem) => [kem.model ?? "-", kem.mac, kem.ip]),
          texts.noModules,
        ),
      ),
    fetches &&
      section(
        texts.fetches,
        simpleTable(
          texts.fetches,
          [texts.at, texts.name, texts.outcome, texts.address, texts.duration_],
          fetches.map((/** @type {any} */ one) => [
            texts.when(one.created_at),
            `${one.transport} ${one.name}`,
            one.result,
            one.client_ip,
            texts.duration(one.duration_ms),
          ]),
          texts.noFetches,
        ),
      ),
  );
}

/** @param {string} path @param {AbortSignal} signal */
async function newestDeployments(path, signal) {
  const counted = await api.get(`${path}/deployments?limit=1`, signal);
  const total = counted.metadata.total ?? 0;
  const offset = Math.max(0, total - NEWEST);
  const { data } = await api.get(withQuery(`${path}/deployments`, { limit: NEWEST, offset }), signal);
  return data.reverse();
}

/** Why a deployment failed, or why the phone did not come back. @param {any} deployment */
function problem({ outcome, message, restart, confirmation, confirmation_message: observed }) {
  if (message) return message;
  if (outcome === "deployed" && restart !== null && restart !== "ok") return restart;
  return confirmation === "not_confirmed" ? observed : "";
}

/** @param {string} title @param {...import("../dom.js").Child} content */
function section(title, ...content) {
  return h("section", {}, h("h2", {}, title), ...content);
}

/** @param {any} deployment @param {string} by */
function current(deployment, by) {
  return h(
    "div",
    {},
    facts([
      [texts.profile, `${deployment.profile_name}, ${texts.revision.toLowerCase()} ${deployment.revision}`],
      [texts.since, texts.when(deployment.ended_at ?? deployment.created_at)],
      [texts.by, by],
      [texts.outcome, badge(deployment.outcome, texts.outcomes)],
    ]),
    stepTimeline(deployment),
  );
}

/** @param {string} path @param {any} desk @param {() => void} reload */
function deskFacts(path, desk, reload) {
  if (!desk.user_uuid) return h("p", {}, texts.nobodyLoggedIn);
  const logOut = async () => {
    const { message } = await api.post(`${path}/desk/logout`);
    notice(message);
    reload();
  };
  return h(
    "div",
    {},
    facts([
      [texts.username, desk.username],
      [texts.since, texts.when(desk.since)],
    ]),
    h("button", { onclick: logOut }, texts.logOutDesk),
  );
}

/** @param {string} path @param {string} mac */
async function rollBack(path, mac) {
  if (!(await ask(texts.rollBackQuestion(mac), texts.rollBack))) return;
  notice(texts.switching);
  try {
    const { message, data } = await api.post(`${path}/rollback`);
    notice(message);
    go(data?.uuid ? `/deployments/${data.uuid}` : `/phones/${mac}?at=${Date.now()}`);
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error), "failed");
    go(`/phones/${mac}?at=${Date.now()}`);
  }
}

/** @param {string} path @param {any} phone @param {() => void} reload */
function edit(path, phone, reload) {
  const fields = phoneFields().filter(({ name }) => name !== "mac");
  void show(texts.edit, (close) => {
    const { form } = recordForm(fields, phone, (values) => api.put(path, values), {
      changesOnly: true,
      saved: () => {
        close();
        reload();
      },
    });
    return form;
  });
}

/** @param {string} path @param {string} mac */
async function remove(path, mac) {
  if (!(await ask(texts.deletePhone(mac), texts.remove, { isDangerous: true }))) return;
  const { message } = await api.remove(path);
  notice(message);
  go("/phones");
}
