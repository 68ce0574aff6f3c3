/** The audit trail, newest first, with names and links in place of UUIDs. */

import { api, withQuery } from "../api.js";
import { fill, h, momentOf, moments, when } from "../dom.js";
import { heading, help, sentences, simpleTable } from "../elements/parts.js";
import { growing, searchBar, tableTools } from "../elements/search-bar.js";
import { texts } from "../texts.js";
import { inWords, labelOf } from "../texts/frame.js";
import { changeOf } from "./import.js";
import { undoLink } from "./join.js";
import { extensionNumber, phoneNames, profileName, userNamed, username, usernames } from "./shared.js";

/** @typedef {import("../../types").AuditEntry} AuditEntry */
/** @typedef {{entry: AuditEntry, cells: import("../dom.js").Child[]}} Row */

const PAGE = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Kinds whose record is a phone. */
const PHONES = ["phone", "desk", "vendor_phone"];

/** What can be chosen as the kind of a record. */
const RESOURCES = [
  "api_token", "assignment", "batch", "bulk_edit", "company_contact", "deployment", "desk", "extension", "kem", "link",
  "location", "people_act", "permission", "personal_contact", "phone", "profile", "template", "user", "vendor_phone", "vendor_service",
  "vendor_user",
];

/** What an act of joining or leaving changed: each part has an entry of its own. */
const PARTS = ["unlinked", "freed", "handed", "desks", "contacts", "contact_uuid", "default_before"];

/** Fields of changes that name another record: where it is shown, and what the link says.
 * @type {Record<string, [string, string]>} */
const LINKS = {
  batch_uuid: ["batches", texts.batch],
  deployment_uuid: ["deployments", texts.seeChange],
  undo_of: ["batches", texts.undoneBatch],
};
/** Values that are names of the API. @type {Record<string, Record<string, string>>} */
const WORDS = { action: texts.actions, outcome: texts.outcomes };
/** Fields with a sentence of the server. */
const SENTENCES = ["message", "restart", "result"];
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** @type {import("../router.js").View} */
export async function auditView({ element, query, signal }) {
  element.classList.add("with-list");
  const tools = tableTools(texts.audit, () => pathOf(search.values()), () => rows.load());
  const search = searchBar(
    "/audit",
    [
      { name: "actor", label: texts.actor, suggest: usernames },
      { name: "resource", label: texts.resource, choices: RESOURCES.map((one) => [one, kindOf(one)]) },
      { name: "action", label: texts.action },
      { name: "resource_id", label: texts.record },
      { name: "since", label: texts.since, kind: "datetime-local" },
      { name: "until", label: texts.until, kind: "datetime-local" },
    ],
    query,
    () => void rows.load(),
  );

  /** @param {Record<string, string>} filters @param {{before?: string, limit?: number}} [page] */
  async function pathOf({ actor, since, until, ...filters }, page) {
    const actor_uuid = actor && (await userNamed(actor, signal));
    return withQuery("audit", { ...filters, actor_uuid, since: momentOf(since), until: momentOf(until), ...page });
  }

  const rows = growing(table, signal, {
    said: tools.say,
    // A search for words reads more than it shows.
    page: async (before = "") => {
      const { data, metadata } = await api.get(await pathOf(search.values(), { before, limit: PAGE }), signal);
      const found = /** @type {AuditEntry[]} */ (data);
      const macs = found.map(({ resource, resource_id: id, changes }) => (PHONES.includes(resource) ? id : changes?.mac?.new));
      const phones = await phoneNames(macs.filter(Boolean), signal);
      const next = metadata.searched_to ?? (found.length < PAGE ? undefined : found.at(-1)?.uuid);
      return { rows: await Promise.all(found.map((one) => rowOf(one, phones))), next };
    },
  });
  fill(element, heading(texts.audit, help("how-to/audit")), search.element, tools.element, rows.place, rows.more);
  await rows.load();
}

/** Where the record of an entry is shown. @param {AuditEntry} entry */
export function hrefOf({ resource, resource_id: id }) {
  if (!id) return null;
  if (["user", "assignment", "vendor_user"].includes(resource)) return `#/people/${id}`;
  if (PHONES.includes(resource)) return `#/phones/${id}`;
  if (resource === "profile") return `#/profiles/${id}`;
  if (resource === "batch") return `#/batches/${id}`;
  if (resource === "deployment") return `#/deployments/${id}`;
  if (resource === "template") return `#/templates/${id}`;
  return null;
}

/** @param {AuditEntry} entry @param {Map<string, string>} phones their names @returns {Promise<Row>} */
async function rowOf(entry, phones) {
  const { resource, resource_id: id, changes = {} } = entry;
  let name = id ?? "";
  if (id && UUID.test(id)) {
    if (["user", "assignment", "vendor_user"].includes(resource)) name = await username(id);
    else if (resource === "profile") name = (await profileName(id)) ?? id;
    else name = calledIn(changes) ?? kindOf(resource);
  }
  const href = hrefOf(entry);
  const shown = Object.entries(changes).filter(
    ([field, { old, new: value }]) =>
      !(field === "profile_name" && changes.profile_uuid) && (old !== null || value !== null) && !(field === "mac" && value === name) && !(resource === "people_act" && PARTS.includes(field)),
  );
  const items = shown.map(async ([field, change]) =>
    resource === "template" && field === "body" && changes.revision?.old
      ? h("li", {}, h("a", { href: `#/templates/${id}?tab=revisions&from=${changes.revision.old}&to=${changes.revision.new}` }, texts.changedText))
      : field in LINKS && change.new
      ? h("li", {}, h("a", { href: `#/${LINKS[field][0]}/${change.new}` }, LINKS[field][1]))
      : h("li", {}, h("b", {}, labelOf(field)), ": ", ...changeOf(await named(field, change))),
  );
  const list = items.length > 0 ? h("ul", { className: "plain" }, ...(await Promise.all(items))) : "";
  const actor = entry.actor ?? texts.system;
  const cells = [
    when(entry.at),
    entry.actor_uuid && !entry.actor_uuid.startsWith("00000000-0000-0000") ? h("a", { href: `#/people/${entry.actor_uuid}` }, actor) : actor,
    actionOf(entry.action),
    resource === "people_act" && id && !entry.action.endsWith("_undone")
      ? h("span", {}, name, " ", undoLink(id))
      : href ? h("a", { href, title: name }, phones.get(name) || name) : name,
    list,
    entry.client_ip,
  ];
  return { entry, cells };
}

/** What a record is called in its changes. @param {Record<string, any>} changes */
function calledIn(changes) {
  const fields = ["name", "extension", "username", "mac"];
  const found = fields.map((field) => changes[field]?.new ?? changes[field]?.old).find(Boolean);
  return found === undefined ? null : String(found);
}

/** The values of a change with names in place of UUIDs. @param {string} field @param {any} change */
export async function named(field, change) {
  if (change === "changed") return change;
  /** @param {any} value */
  const name = async (value) => {
    if (typeof value !== "string") return value;
    if (TIME.test(value)) return moments(value);
    if (SENTENCES.includes(field)) return inWords(value);
    if (!UUID.test(value)) return WORDS[field]?.[value] ?? value;
    if (field.includes("user_uuid") || field === "handed_to") return username(value);
    if (field === "extension_uuid") return (await extensionNumber(value)) ?? value;
    return field.includes("profile_uuid") ? ((await profileName(value)) ?? value) : value;
  };
  return { old: await name(change.old), new: await name(change.new) };
}

/** A kind of record in words. @param {string} resource */
export const kindOf = (resource) => texts.recordKinds[resource] ?? labelOf(resource);

/** An action of the API in words. @param {string} action */
export function actionOf(action) {
  const [resource, verb] = action.split(".");
  return `${kindOf(resource)} ${verb.replaceAll("_", " ")}`;
}

/** @param {Row[]} rows */
function table(rows) {
  return simpleTable(
    texts.audit,
    [texts.at, texts.actor, texts.action, texts.record, sentences(texts.changes), [texts.clientAddress, "roomy"]],
    rows.map(({ cells }) => cells),
    texts.noEntries,
  );
}
