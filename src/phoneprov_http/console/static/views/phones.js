/** All phones: search, filters, a new phone. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { show } from "../elements/dialog.js";
import { recordForm } from "../elements/record-form.js";
import { searchBar } from "../elements/search-bar.js";
import { go } from "../router.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** @type {[string, string][]} */
export const SOFTWARE_TYPES = [
  ["SCCP", "SCCP"],
  ["SIP", "SIP"],
  ["SIPE", "SIPE"],
];

/** @type {import("../elements/record-form.js").Field[]} */
const FIELDS = [
  { name: "mac", label: texts.mac, isRequired: true },
  { name: "name", label: texts.name },
  { name: "brand", label: texts.brand },
  { name: "model", label: texts.model },
  { name: "phone_ip", label: texts.address },
  { name: "location", label: texts.location },
  { name: "hostname", label: texts.hostname },
  { name: "phone_vlan", label: texts.vlan },
  { name: "software_type", label: texts.softwareType },
  { name: "software_version", label: texts.softwareVersion },
  { name: "description", label: texts.description, kind: "area" },
  { name: "is_active", label: texts.isActive, kind: "checkbox" },
];

/** The fields that the caller may write: addresses of phones need level 0. */
export function phoneFields() {
  return FIELDS.filter(({ name }) => session.isAdmin || name !== "phone_ip");
}

/** @type {import("../elements/search-bar.js").Filter} */
const LAST_OUTCOME = {
  name: "last_outcome",
  label: texts.lastOutcome,
  choices: [...Object.entries(texts.outcomes), ["none", texts.neverDeployed]],
};

const ME = "me";

/** Who is logged in at the phone: any user for level 0, otherwise the caller.
 * @returns {import("../elements/search-bar.js").Filter} */
function loggedIn() {
  const filter = { name: "user", label: texts.loggedIn };
  if (!session.isAdmin) return { ...filter, choices: [[ME, texts.me]] };
  return {
    ...filter,
    suggest: async (q) => {
      const { data } = await api.get(withQuery("users", { q, limit: 20 }));
      return data.map((/** @type {any} */ one) => one.username);
    },
  };
}

/** The account with a username, or the only one that a search for it finds.
 * @param {string} username @param {AbortSignal} signal @returns {Promise<string | null>} */
async function userNamed(username, signal) {
  if (!session.isAdmin) return session.me?.uuid ?? null;
  const { data } = await api.get(withQuery("users", { q: username, limit: 1000 }), signal);
  const same = data.find(
    (/** @type {any} */ one) => one.username.toLowerCase() === username.toLowerCase(),
  );
  return same?.uuid ?? (data.length === 1 ? data[0].uuid : null);
}

/** @type {import("../router.js").View} */
export async function view({ element, query }) {
  /** @type {import("../elements/data-list.js").DataList<any>} */
  const list = dataList();
  const search = searchBar(
    [
      { name: "model", label: texts.model },
      { name: "location", label: texts.location },
      { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES },
      loggedIn(),
      ...(session.isAdmin ? [LAST_OUTCOME] : []),
    ],
    query,
    (values) => {
      history.replaceState(null, "", `#${withQuery("/phones", values)}`);
      void list.reload();
    },
  );
  fill(
    element,
    h(
      "div",
      { className: "heading" },
      h("h1", {}, texts.phones),
      session.mayWriteShared && h("button", { className: "primary", onclick: add }, texts.newPhone),
      h("a", { className: "button", href: "#/modules" }, texts.modules),
    ),
    search.element,
    list,
  );
  await list.configure({
    caption: texts.phoneList,
    columns: [
      { title: texts.mac, cell: (phone) => phone.mac, width: "11rem" },
      { title: texts.name, cell: (phone) => phone.name },
      { title: texts.model, cell: (phone) => phone.model },
      { title: texts.location, cell: (phone) => phone.location, isOptional: true },
      { title: texts.address, cell: (phone) => phone.phone_ip, isOptional: true },
      { title: texts.softwareType, cell: (phone) => phone.software_type, isOptional: true },
      { title: texts.isActive, cell: (phone) => (phone.is_active ? texts.yes : texts.no), isOptional: true },
    ],
    href: (phone) => `#/phones/${phone.mac}`,
    load: async (offset, limit, signal) => {
      const { user, ...values } = search.values();
      const user_uuid = user && (await userNamed(user, signal));
      if (user_uuid === null) return { rows: [], total: 0 };
      const path = withQuery("phones", { ...values, user_uuid, offset, limit });
      const { data, metadata } = await api.get(path, signal);
      return { rows: data, total: metadata.total ?? data.length };
    },
  });
}

function add() {
  void show(texts.newPhone, (close) => {
    const { form } = recordForm(phoneFields(), { is_active: true }, (v) => api.post("phones", v), {
      button: texts.create,
      saved: ({ data }) => {
        close();
        go(`/phones/${data.mac}`);
      },
    });
    return form;
  });
}
