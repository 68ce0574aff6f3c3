/** Locations, modules, numbers, rights, services and flags: lists of small records. */

import { api, session, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { heading, help } from "../elements/parts.js";
import { recordDialog } from "../elements/records.js";
import { searchBar } from "../elements/search-bar.js";
import { EXTENSION, EXTENSION_TYPES, FLAG, LOCATION, MODULE, PERMISSION, SERVICE } from "../fields.js";
import { texts } from "../texts.js";
import { linkedPart } from "./people.js";
import { editButton, phoneNames, phoneTitle, whoseLine, withNumbers } from "./shared.js";

// Lists whose records are opened in a dialog. A flag says whether a phone is offered the phone menu.

/**
 * @typedef {object} Kind
 * @property {string} title
 * @property {string} add text of the button for a new record
 * @property {string} path
 * @property {import("../fields.js").Field[]} fields
 * @property {string[]} [fixed] fields that a record keeps
 * @property {string[]} columns fields shown; the first one opens the record
 * @property {string[]} [sorted] the columns that the server sorts by; without, all are sorted here
 * @property {import("../elements/search-bar.js").Filter[]} [filters] of a list that is searched
 * @property {string} [empty] what is shown without records
 * @property {string} help a page of the documentation
 * @property {string} [phone] the field with the MAC address of a phone, which is shown with its name
 * @property {Parameters<typeof recordDialog>[0]["send"]} [send] of a record that has no UUID of its own
 * @property {boolean} [isShared] written by everyone who may write shared records
 */

/** @type {Record<string, Kind>} */
const KINDS = {
  extensions: {
    title: texts.extensions,
    add: texts.newExtension,
    path: "extensions",
    help: "how-to/lines",
    empty: texts.noExtensions,
    filters: [{ name: "type", label: texts.type, choices: EXTENSION_TYPES }],
    columns: ["extension", "name", "type", "voicemail", "is_active", "description"],
    sorted: ["extension", "name", "type"],
    fields: EXTENSION,
  },
  permissions: {
    title: texts.permissions,
    add: texts.newPermission,
    path: "permissions",
    help: "explanation/levels",
    columns: ["name", "level", "description"],
    fixed: ["level"],
    fields: PERMISSION,
  },
  modules: {
    title: texts.modules,
    add: texts.newModule,
    path: "vendor-kem",
    help: "reference/http/vendor-kem",
    empty: texts.noModulesYet,
    isShared: true,
    phone: "connected_phone",
    columns: ["mac", "model", "connected_phone", "ip"],
    fields: MODULE,
  },
  locations: {
    title: texts.locations,
    add: texts.newLocation,
    path: "locations",
    help: "how-to/emergency-calls",
    empty: texts.noLocations,
    columns: ["name", "emergency_number", "emergency_place"],
    fields: LOCATION,
  },
  services: {
    title: texts.services,
    add: texts.newService,
    path: "vendor-services",
    help: "reference/phone-pages",
    empty: texts.noServicesYet,
    isShared: true,
    columns: ["name", "url", "type"],
    fields: SERVICE,
  },
  flags: {
    title: texts.flags,
    add: texts.newFlag,
    path: "vendor-phones",
    help: "reference/http/vendor-phones",
    empty: texts.noFlags,
    isShared: true,
    phone: "mac",
    columns: ["mac", "vendor"],
    fixed: ["mac"],
    fields: FLAG,
    send: ({ mac, vendor }, flag) => api.put(`vendor-phones/${encodeURIComponent(flag?.mac ?? mac)}`, { vendor }),
  },
};

/** @type {import("../router.js").View} */
export async function recordsView({ element, parameters: [name], query, signal }) {
  const kind = KINDS[name];
  const mayWrite = kind.isShared ? session.mayWriteShared : session.isAdmin;
  const list = /** @type {import("../elements/data-list.js").DataList<any>} */ (dataList());
  const changed = () => void list.reload();
  /** @param {any} record @param {string} [field] */
  const named = (record, field = kind.columns[0]) =>
    record[field] && field === kind.phone ? phoneTitle({ mac: record[field], name: record.phone }) : String(record[field] ?? texts.unnamed);
  const add = () =>
    recordDialog({
      title: kind.add,
      path: kind.path,
      fields: kind.fields,
      record: null,
      initial: kind.send ? { vendor: true } : query.has("new") ? { connected_phone: query.get("new") } : undefined,
      name: named,
      send: kind.send,
      changed,
    });
  /** @param {any} record */
  const edit = (record) => {
    const fields = kind.fields.filter((field) => !kind.fixed?.includes(field.name));
    const id = kind.send ? record.mac : record.uuid;
    const path = `${kind.path}/${encodeURIComponent(id)}`;
    const after = name === "extensions" ? linkedPart(record.uuid, signal) : undefined;
    recordDialog({ title: named(record), path, fields, record, id, name: named, send: kind.send, changed, after });
  };
  const search = searchBar(`/${name}`, kind.filters ?? [], query, changed, { list });
  element.classList.add("with-list");
  fill(
    element,
    heading(kind.title, mayWrite && h("button", { className: "primary", onclick: add }, kind.add), help(kind.help)),
    kind.filters && search.element,
    list,
  );
  /** @type {import("../elements/data-list.js").Column<any>[]} */
  const columns = kind.columns.map((field, position) => ({
    title: kind.fields.find((one) => one.name === field)?.label ?? field,
    isOptional: position > 1,
    width: field === "type" ? "9rem" : undefined,
    sort: !kind.sorted || kind.sorted.includes(field) ? field : undefined,
    cell: (record) => {
      const value = record[field];
      if (position > 0) return typeof value === "boolean" ? (value ? texts.yes : texts.no) : value === null ? "" : named(record, field);
      return mayWrite
        ? h("button", { className: "plain link", onclick: () => edit(record) }, named(record))
        : named(record);
    },
  }));
  if (name === "extensions") columns.splice(2, 0, { title: texts.who, cell: whoseLine, width: "12rem" });
  /** @type {import("../elements/data-list.js").Options<any>["rows"]} */
  const rows = async (records, abort) => {
    const { phone } = kind;
    if (!phone) return name === "extensions" ? withNumbers("extensions", records, abort) : records;
    const names = await phoneNames(records.map((one) => one[phone]).filter(Boolean), abort);
    return records.map((one) => ({ ...one, phone: names.get(one[phone]) }));
  };
  await list.configure({
    caption: kind.title,
    name,
    columns,
    path: () => withQuery(kind.path, kind.filters ? search.values() : {}),
    rows,
    isSortedHere: !kind.sorted,
    key: name === "extensions" ? (one) => one.uuid : undefined,
    named,
    actions: (uuids) => [editButton("extensions", uuids)],
    empty: () => search.empty(kind.empty ?? texts.noRows),
  });
  if (query.has("new")) add();
}
