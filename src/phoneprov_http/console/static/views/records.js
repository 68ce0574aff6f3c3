/** Locations, modules, numbers, rights, services and flags: lists of small records. */

import { api, session, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { recordForm } from "../elements/forms.js";
import { sortedHere } from "../elements/list-parts.js";
import { auditLink, heading, help, show } from "../elements/parts.js";
import { recordDialog, removed } from "../elements/records.js";
import { searchBar } from "../elements/search-bar.js";
import { EXTENSION, EXTENSION_TYPES, LOCATION, MODULE, PERMISSION, SERVICE, field } from "../fields.js";
import { texts } from "../texts.js";
import { whoseLine, withNumbers } from "./shared.js";
import { linkedPart } from "./people.js";
import { editButton } from "./shared.js";

/** @typedef {import("../../types").VendorPhone} VendorPhone */

// Lists whose records are opened in a dialog: extensions, permissions, modules, locations,
// services, flags.

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
};

/** @type {import("../router.js").View} */
export async function recordsView({ element, parameters: [name], query, signal }) {
  const kind = KINDS[name];
  const mayWrite = kind.isShared ? session.mayWriteShared : session.isAdmin;
  const list = /** @type {import("../elements/data-list.js").DataList<any>} */ (dataList());
  const changed = () => void list.reload();
  const named = (/** @type {any} */ record) => String(record[kind.columns[0]] ?? texts.unnamed);
  const add = () =>
    recordDialog({
      title: kind.add,
      path: kind.path,
      fields: kind.fields,
      record: null,
      initial: query.has("new") ? { connected_phone: query.get("new") } : undefined,
      name: named,
      changed,
    });
  /** @param {any} record */
  const edit = (record) => {
    const fields = kind.fields.filter((field) => !kind.fixed?.includes(field.name));
    const path = `${kind.path}/${record.uuid}`;
    const after = name === "extensions" ? linkedPart(record.uuid, signal) : undefined;
    recordDialog({ title: named(record), path, fields, record, name: named, changed, after });
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
      const text = typeof value === "boolean" ? (value ? texts.yes : texts.no) : String(value ?? "");
      if (position > 0) return text;
      return mayWrite
        ? h("button", { className: "plain link", onclick: () => edit(record) }, named(record))
        : named(record);
    },
  }));
  if (name === "extensions") columns.splice(2, 0, { title: texts.who, cell: whoseLine, width: "12rem" });
  /** @type {import("../elements/data-list.js").Options<any>["load"]} */
  const load = async (offset, limit, abort, sort) => {
    const { data, metadata } = await api.get(
      withQuery(kind.path, { ...(kind.filters ? search.values() : {}), offset, limit, sort }),
      abort,
    );
    const rows = name === "extensions" ? await withNumbers("extensions", data, abort) : data;
    return { rows, total: metadata.total ?? data.length };
  };
  await list.configure({
    caption: kind.title,
    name,
    columns,
    file: () => withQuery(kind.path, kind.filters ? search.values() : {}),
    key: name === "extensions" ? (one) => one.uuid : undefined,
    named,
    actions: (uuids) => [editButton("extensions", uuids)],
    sort: query.get("sort") ?? "",
    sorted: search.keep,
    empty: () => search.empty(kind.empty ?? texts.noRows),
    load: kind.sorted ? load : sortedHere(columns, load),
  });
  if (query.has("new")) add();
}

// The vendor flags of phones: whether a phone is offered the phone menu.

/** @type {import("../router.js").View} */
export async function flagsView({ element }) {
  const list = /** @type {import("../elements/data-list.js").DataList<VendorPhone>} */ (dataList());
  const changed = () => void list.reload();
  const add = () => edit(null, changed);
  element.classList.add("with-list");
  fill(
    element,
    heading(
      texts.flags,
      session.mayWriteShared && h("button", { className: "primary", onclick: add }, texts.newFlag),
      help("reference/http/vendor-phones"),
    ),
    list,
  );
  /** @type {import("../elements/data-list.js").Column<VendorPhone>[]} */
  const columns = [
    {
      title: texts.mac,
      sort: "mac",
      cell: (one) =>
        session.mayWriteShared
          ? h("button", { className: "plain link", onclick: () => edit(one, changed) }, one.mac)
          : one.mac,
    },
    { title: texts.vendorPhone, sort: "vendor", cell: (one) => (one.vendor ? texts.yes : texts.no) },
  ];
  await list.configure({
    caption: texts.flags,
    file: () => "vendor-phones",
    columns,
    empty: () => texts.noFlags,
    load: sortedHere(columns, async (offset, limit, signal) => {
      const { data, metadata } = await api.get(`vendor-phones?limit=${limit}&offset=${offset}`, signal);
      return { rows: data, total: metadata.total ?? data.length };
    }),
  });
}

/** @param {VendorPhone | null} flag @param {() => void} changed */
function edit(flag, changed) {
  const vendor = field("vendor", { kind: "checkbox" });
  const fields = flag ? [vendor] : [field("mac", { isRequired: true }), vendor];
  void show(flag?.mac ?? texts.newFlag, (close) => {
    const done = () => {
      close();
      changed();
    };
    const { form } = recordForm(
      fields,
      flag ?? { vendor: true },
      ({ mac, ...values }) => api.put(`vendor-phones/${encodeURIComponent(flag?.mac ?? mac)}`, values),
      { said: ({ data }) => texts.saved(data.mac), saved: done },
    );
    const remove = async () => {
      if (flag && (await removed(`vendor-phones/${encodeURIComponent(flag.mac)}`, flag.mac))) done();
    };
    if (flag) {
      form.lastElementChild?.append(
        h("button", { type: "button", className: "danger", onclick: remove }, texts.remove),
        auditLink(flag.mac) || "",
      );
    }
    return form;
  });
}
