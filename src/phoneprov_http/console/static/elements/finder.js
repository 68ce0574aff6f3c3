/** The search field of the header: people and phones side by side while a text is typed. */

import { api, session, withQuery } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { go, here } from "../navigation.js";
import { texts } from "../texts.js";

const PAUSE_MS = 200;
const MARGIN = 8;
const WIDTH = 640;

/** @typedef {import("../../types").Numbered} Numbered */
/** @typedef {import("../../types").Found} Found */

/** @param {Numbered} one */
const person = (one) => {
  const at = one.phones.find((phone) => phone.is_logged_in);
  return [
    `/people/${one.id}`,
    h("strong", {}, one.name),
    [...one.numbers, at ? texts.isAt(at.name ?? at.mac) : (one.people[0]?.username ?? "")].join(" · "),
  ];
};

/** @param {Numbered} one */
const phone = (one) => [
  `/phones/${one.id}`,
  h("strong", {}, one.name ?? one.id),
  [...one.numbers, one.people[0]?.name, one.name && one.id].filter(Boolean).join(" · "),
];

/** Enter opens the first row, or the one that the arrow keys came to. */
export function finder() {
  const [label, placeholder] = session.seesPeople
    ? [texts.findAnything, texts.phoneOrPerson]
    : [texts.findPhone, texts.phone];
  const id = uniqueId("found");
  const list = h("div", { id, role: "listbox", "aria-label": texts.suggestions });
  const said = h("p", { role: "status", className: "hidden" });
  // The list keeps the focus in the field.
  const box = h("div", { className: "found", hidden: true, onpointerdown: (/** @type {Event} */ event) => event.preventDefault() }, list);
  const field = h("input", {
    type: "search",
    role: "combobox",
    "aria-label": label,
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    placeholder,
    autocomplete: "off",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void suggest().catch(close), PAUSE_MS);
    },
    onkeydown: pressed,
    onblur: close,
  });
  /** @type {number | undefined} */
  let timer;
  /** @type {Promise<[string, Found]> | null} */
  let asked = null;
  let asks = "";
  /** @type {HTMLElement[]} */
  let rows = [];
  let active = -1;

  /** What the text finds; a text that was answered is not asked for again. */
  function find() {
    const q = field.value.trim();
    if (asked !== null && asks === q) return asked;
    asks = q;
    const own = (asked = api.get(withQuery("search", { q })).then(({ data }) => [q, data]));
    own.catch(() => {
      if (asked === own) asked = null;
    });
    return own;
  }

  async function suggest() {
    if (field.value.trim() === "") return close();
    const [q, found] = await find();
    if (q !== field.value.trim() || document.activeElement !== field) return;
    draw(found);
  }

  /** @param {Found} found */
  function draw({ best, people, phones, q }) {
    rows = [];
    active = -1;
    fill(
      list,
      session.seesPeople && group(texts.people, "/people", q, people.map(person), best === "people"),
      group(texts.phones, "/phones", q, phones.map(phone), best === "phones"),
    );
    const first = best === null ? "" : (best === "people" ? people : phones)[0];
    said.textContent = texts.suggested(session.seesPeople ? people.length : null, phones.length, first && (first.name ?? first.id));
    box.hidden = false;
    field.setAttribute("aria-expanded", "true");
    field.removeAttribute("aria-activedescendant");
    // The frame scrolls and would cut the list off.
    const { left, bottom } = field.getBoundingClientRect();
    const width = Math.min(WIDTH, innerWidth - 2 * MARGIN);
    box.style.width = `${width}px`;
    box.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`;
    box.style.top = `${bottom + 2}px`;
  }

  /** @param {string} title @param {string} path @param {string} q @param {any[][]} found
   * @param {boolean} isBest whether Enter opens the first row */
  function group(title, path, q, found, isBest) {
    const all = [withQuery(path, { q }), h("span", {}, texts.allWith(title, q, found.length > 0)), ""];
    const options = [...found, all].map(([to, name, more], place) => {
      const row = h("a", { id: uniqueId("row"), className: isBest && place === 0 ? "best" : "", role: "option", "aria-selected": "false", tabIndex: -1, href: `#${to}`, onclick: close }, name, h("span", { className: "quiet" }, more));
      rows.push(row);
      return row;
    });
    return h("div", { role: "group", "aria-label": title }, h("span", { className: "title", "aria-hidden": "true" }, title), ...options);
  }

  function close() {
    box.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !box.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (step && box.hidden) {
      event.preventDefault();
      void suggest().catch(close);
    } else if (step) {
      event.preventDefault();
      rows[active]?.setAttribute("aria-selected", "false");
      const begin = step < 0 ? rows.length - 1 : Math.max(0, rows.findIndex((row) => row.className === "best"));
      active = active < 0 ? begin : (active + step + rows.length) % rows.length;
      rows[active].setAttribute("aria-selected", "true");
      rows[active].scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", rows[active].id);
    }
  }

  async function submitted(/** @type {Event} */ event) {
    event.preventDefault();
    clearTimeout(timer);
    const isHere = here();
    if (!box.hidden && active >= 0) return rows[active].click();
    if (field.value.trim() === "") return;
    const [, { best, people, phones, q }] = await find();
    close();
    if (!isHere()) return;
    if (best === null) go(withQuery("/phones", { q }));
    else go(best === "people" ? `/people/${people[0].id}` : `/phones/${phones[0].id}`);
  }
  return h("form", { className: "finder", role: "search", "aria-label": label, onsubmit: submitted }, field, box, said);
}
