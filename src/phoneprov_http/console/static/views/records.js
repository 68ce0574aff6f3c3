/** Lists whose records are opened in a dialog: extensions, permissions, modules, services. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { recordDialog } from "../elements/record-dialog.js";
import { searchBar } from "../elements/search-bar.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/**
 * @typedef {object} Kind
 * @property {string} title
 * @property {string} add text of the button for a new record
 * @property {string} path
 * @property {import("../elements/record-form.js").Field[]} fields
 * @property {string[]} [fixed] fields that a record keeps
 * @property {string[]} columns fields shown; the first one opens the record
 * @property {boolean} [isSearched]
 * @property {boolean} [isShared] written by everyone who may write shared records
 */

/** @type {[string, string][]} */
const TYPES = [
  ["chan_sccp", "chan_sccp"],
  ["chan_pjsip", "chan_pjsip"],
  ["chan_sip", "chan_sip"],
  ["custom", "custom"],
];

/** @type {Record<string, Kind>} */
const KINDS = {
  extensions: {
    title: texts.extensions,
    add: texts.newExtension,
    path: "extensions",
    isSearched: true,
    columns: ["extension", "name", "type", "description"],
    fields: [
      { name: "extension", label: texts.extension, isRequired: true },
      { name: "name", label: texts.name, isRequired: true },
      { name: "type", label: texts.type, isRequired: true, choices: TYPES },
      {
        name: "password",
        label: texts.password,
        kind: "password",
        hint: texts.lineSecretHint,
        autocomplete: "new-password",
      },
      { name: "description", label: texts.description, kind: "area" },
      { name: "voicemail", label: texts.voicemail, kind: "checkbox" },
      { name: "voicemail_passcode", label: texts.passcode },
      { name: "is_active", label: texts.isActive, kind: "checkbox" },
    ],
  },
  permissions: {
    title: texts.permissions,
    add: texts.newPermission,
    path: "permissions",
    columns: ["name", "level", "description"],
    fixed: ["level"],
    fields: [
      { name: "name", label: texts.name, isRequired: true },
      { name: "level", label: texts.level, kind: "number", isRequired: true, hint: texts.levelHint },
      { name: "description", label: texts.description, kind: "area" },
    ],
  },
  modules: {
    title: texts.modules,
    add: texts.newModule,
    path: "vendor-kem",
    isShared: true,
    columns: ["mac", "model", "connected_phone", "ip"],
    fields: [
      { name: "mac", label: texts.mac },
      { name: "model", label: texts.model },
      { name: "connected_phone", label: texts.connectedPhone },
      { name: "ip", label: texts.address },
      { name: "software_version", label: texts.softwareVersion },
      { name: "software_type", label: texts.softwareType },
    ],
  },
  services: {
    title: texts.services,
    add: texts.newService,
    path: "vendor-services",
    isShared: true,
    columns: ["name", "url", "type"],
    fields: [
      { name: "name", label: texts.name },
      { name: "url", label: texts.url, hint: texts.urlHint },
      { name: "type", label: texts.type },
    ],
  },
};

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [name], query }) {
  const kind = KINDS[name];
  const mayWrite = kind.isShared ? session.mayWriteShared : session.isAdmin;
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const changed = () => void list.reload();
  const add = () =>
    recordDialog({ title: kind.add, path: kind.path, fields: kind.fields, record: null, changed });
  /** @param {any} record @param {string} title */
  const edit = (record, title) => {
    const fields = kind.fields.filter((field) => !kind.fixed?.includes(field.name));
    recordDialog({ title, path: `${kind.path}/${record.uuid}`, fields, record, changed });
  };
  const search = searchBar([], query, (values) => {
    history.replaceState(null, "", `#${withQuery(`/${name}`, values)}`);
    changed();
  });
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, kind.title),
      mayWrite && h("button", { className: "primary", onclick: add }, kind.add),
    ),
    kind.isSearched && search.element,
    list,
  );
  await list.configure({
    caption: kind.title,
    columns: kind.columns.map((field, position) => ({
      title: kind.fields.find((one) => one.name === field)?.label ?? field,
      isOptional: position > 1,
      cell: (record) => {
        const text = String(record[field] ?? (position === 0 ? texts.unnamed : ""));
        return position === 0 && mayWrite
          ? h("button", { className: "plain link", onclick: () => edit(record, text) }, text)
          : text;
      },
    })),
    load: async (offset, limit, signal) => {
      const { data, metadata } = await api.get(
        withQuery(kind.path, { ...(kind.isSearched ? search.values() : {}), offset, limit }),
        signal,
      );
      return { rows: data, total: metadata.total ?? data.length };
    },
  });
}
