/** All phones: search, filters, what is on each, a new phone; a batch for the selected ones. */

import { api, session, withQuery } from "../api.js";
import { ago, count, fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { recordForm } from "../elements/forms.js";
import { badge, heading, help, show } from "../elements/parts.js";
import { searchBar, yesOrNo } from "../elements/search-bar.js";
import { SOFTWARE_TYPES, phoneFields } from "../fields.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { NUMBER, NUMBER_FILTER, addressOf, batchButton, editButton, phoneTitle, userNamed, usernames, withNumbers } from "./shared.js";

/** @typedef {import("../elements/search-bar.js").Filter} Filter */
/** @typedef {import("../../types").PhoneSummary} PhoneSummary */

/** The values of a field with the number of phones of each. @param {string} by @returns {Filter} */
function counted(by) {
  return {
    name: by,
    label: by === "model" ? texts.model : texts.location,
    load: async () => {
      const { data } = await api.get(withQuery("phones/counts", { by }));
      return data
        .filter((/** @type {any} */ one) => one.value !== null)
        .map((/** @type {any} */ one) => [one.value, `${one.value} (${count(one.phones)})`]);
    },
  };
}

/** @type {Filter} */
const LAST_OUTCOME = {
  name: "last_outcome",
  label: texts.lastOutcome,
  choices: [...Object.entries(texts.outcomes), ["none", texts.neverDeployed]],
};

/** @type {Filter} */
const LAST_DRILL = {
  name: "last_drill",
  label: texts.lastDrill,
  choices: ["agrees", "differs"].map((result) => [result, texts.drillResults[result]]),
};

/** @type {Filter} */
const STATE = { name: "state", label: texts.fleetState, choices: Object.entries(texts.states) };

const ME = "me";

/** Who is logged in at the phone: any user for level 0, otherwise the caller.
 * @returns {Filter} */
function loggedIn() {
  const filter = { name: "user", label: texts.loggedIn };
  if (!session.isAdmin) return { ...filter, choices: [[ME, texts.me]] };
  return { ...filter, suggest: usernames };
}

/** The state of a phone; one whose last change did not arrive is not fine.
 * @param {import("../../types").PhoneSummary["use"]} use */
function stateOf({ state, last_outcome, last_confirmation }) {
  if (state === null) return h("span", { className: "quiet" }, texts.stateNotKnown);
  const isOpen = !["deployed", "none"].includes(last_outcome) || last_confirmation === "not_confirmed";
  if (state === "fine" && isOpen) return h("span", { className: "quiet" }, texts.seeOutcome);
  return badge(state, texts.states);
}

/** @returns {import("../elements/data-list.js").Column<PhoneSummary>[]} */
function columns() {
  const plain = [
    { title: texts.name, cell: (/** @type {any} */ one) => one.name ?? one.mac, sort: "name" },
    { title: texts.mac, cell: (/** @type {any} */ one) => one.mac, width: "11rem", sort: "mac" },
    { title: texts.model, cell: (/** @type {any} */ one) => one.model, sort: "model", width: "7rem" },
    { title: texts.location, cell: (/** @type {any} */ one) => one.location, sort: "location" },
  ];
  const uses = [
    NUMBER,
    {
      title: texts.lastOutcome,
      cell: (/** @type {PhoneSummary} */ one) =>
        one.use.last_outcome === "none"
          ? h("span", { className: "quiet" }, texts.neverDeployed)
          : badge(one.use.last_outcome, texts.outcomes),
      width: "9.5rem",
      sort: "last_outcome",
    },
    {
      title: texts.fleetState,
      cell: (/** @type {PhoneSummary} */ one) => stateOf(one.use),
      sort: "state",
      isOptional: true,
      isHidden: true,
      width: "10rem",
    },
    {
      title: texts.seenAt,
      cell: (/** @type {PhoneSummary} */ { use }) => ago(use.seen_at) || (use.state === "never_seen" ? texts.neverSeen : texts.stateNotKnown),
      sort: "seen_at",
      isOptional: true,
      isHidden: true,
      width: "9rem",
    },
    { title: texts.profile, cell: (/** @type {PhoneSummary} */ one) => one.use.profile_name, isOptional: true, sort: "profile_name" },
    { title: texts.loggedIn, cell: (/** @type {PhoneSummary} */ one) => one.use.username, isOptional: true, isWide: true, sort: "username" },
    {
      title: texts.lastChange,
      cell: (/** @type {PhoneSummary} */ one) => ago(one.use.last_changed_at),
      isOptional: true,
      width: "8.5rem",
    },
  ];
  const more = [
    { title: texts.address, cell: addressOf, sort: "phone_ip", width: "8.5rem" },
    { title: texts.softwareType, cell: (/** @type {any} */ one) => one.software_type, sort: "software_type" },
    { title: texts.softwareVersion, cell: (/** @type {any} */ one) => one.software_version },
    { title: texts.description, cell: (/** @type {any} */ one) => one.description },
    { title: texts.isActive, cell: (/** @type {any} */ one) => (one.is_active ? texts.yes : texts.no) },
  ].map((column, place) => ({ ...column, isOptional: true, isHidden: session.isAdmin ? place > 0 : place === 2 || place === 3 }));
  return session.isAdmin ? [...plain, ...uses, ...more] : [...plain, ...(session.seesPeople ? [{ ...NUMBER, sort: undefined }] : []), ...more];
}

/** @type {import("../router.js").View} */
export async function phonesView({ element, query, signal }) {
  const list = /** @type {import("../elements/data-list.js").DataList<PhoneSummary>} */ (dataList());
  const search = searchBar(
    "/phones",
    [
      counted("model"),
      counted("location"),
      { name: "software_type", label: texts.softwareType, choices: SOFTWARE_TYPES },
      loggedIn(),
      ...(session.seesPeople ? [NUMBER_FILTER] : []),
      ...(session.isAdmin ? [LAST_OUTCOME, LAST_DRILL, STATE] : []),
      yesOrNo("is_active", texts.isActive),
    ],
    query,
    () => void list.reload(),
    { list },
  );
  async function pathOf() {
    const { user, ...values } = search.values();
    const user_uuid = user && (session.isAdmin ? await userNamed(user, signal) : session.me?.uuid);
    return withQuery(session.isAdmin ? "phones/summaries" : "phones", { ...values, user_uuid });
  }
  element.classList.add("with-list");
  fill(
    element,
    heading(
      texts.phones,
      session.mayWriteShared && h("button", { className: "primary", onclick: add }, texts.newPhone),
      session.isAdmin && h("a", { className: "button", href: "#/discovered" }, texts.discovered),
      session.isAdmin && h("a", { className: "button", href: "#/history" }, texts.earlier),
      h("a", { className: "button", href: "#/modules" }, texts.modules),
      h("a", { className: "button", href: "#/locations" }, texts.locations),
      h("a", { className: "button", href: "#/flags" }, texts.flags),
      help("how-to/console"),
    ),
    search.element,
    list,
  );
  await list.configure({
    caption: texts.phones,
    name: "phones",
    columns: columns(),
    path: pathOf,
    rows: (phones, signal) => withNumbers("phones", phones, signal),
    href: (phone) => `#/phones/${phone.mac}`,
    key: session.isAdmin ? (phone) => phone.mac : undefined,
    actions: (macs) => [batchButton(macs), editButton("phones", macs)],
    empty: () =>
      search.empty(
        session.isAdmin
          ? h("p", {}, texts.noPhones, " ", h("a", { href: "#/import" }, texts.importTitle))
          : texts.noRows,
      ),
  });
}

function add() {
  /** @param {() => void} close */
  const content = (close) => {
    const { form } = recordForm(
      phoneFields(session.isAdmin),
      { is_active: true },
      (values) => api.post("phones", values),
      {
        button: texts.create,
        said: ({ data }) => texts.created(phoneTitle(data)),
        saved: ({ data }) => {
          close();
          go(`/phones/${data.mac}?new=1`);
        },
      },
    );
    return form;
  };
  void show(texts.newPhone, content);
}
