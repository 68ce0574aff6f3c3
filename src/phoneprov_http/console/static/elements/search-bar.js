/** Above a list or a table: filters, columns, the export of a table. */

import { withQuery } from "../api.js";
import { fill, h, icon, uniqueId, update } from "../dom.js";
import { readdress, store } from "../navigation.js";
import { texts } from "../texts.js";
import { readAndWrite } from "./list-parts.js";
import { errorBox, menu } from "./parts.js";

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

// The search field and the filters above a list: kept in the address, saved by name in the
// browser, folded on narrow screens.

const PAUSE_MS = 250;
const WIDE = matchMedia("(min-width: 48rem)");

/**
 * A filter is a list of choices, of choices that `load` finds, or a text for which `suggest` finds
 * values.
 *
 * @typedef {{name: string, label: string, kind?: string, choices?: [string, string][],
 *   load?: () => Promise<[string, string][]>,
 *   suggest?: (typed: string) => Promise<string[]>}} Filter
 */

/** A filter with yes and no. @param {string} name @param {string} label @returns {Filter} */
export const yesOrNo = (name, label) => ({
  name,
  label,
  choices: [
    ["true", texts.yes],
    ["false", texts.no],
  ],
});

/**
 * @param {string} path the address of the view
 * @param {Filter[]} filters
 * @param {URLSearchParams} initial
 * @param {(values: Record<string, string>) => void} changed
 * @param {{isSearched?: boolean, list?: import("./data-list.js").DataList<any>}} [options] the
 *   order of a `list` is kept in the address, too
 */
export function searchBar(path, filters, initial, changed, { isSearched = true, list } = {}) {
  /** @type {number | undefined} */
  let timer;
  /** @type {Map<string, Field>} */
  const fields = new Map();
  const values = () =>
    Object.fromEntries([...fields].map(([name, field]) => [name, wanted(field) ?? field.value.trim()]));
  const isUsed = () => Object.values(values()).some((value) => value !== "");
  const announce = () => {
    clearTimeout(timer);
    timer = setTimeout(now, PAUSE_MS);
  };
  const clear = h("button", { type: "button", className: "plain", onclick: () => set({}) }, texts.clear);
  const fold = h("summary", {}, icon("filter"), h("span", {}, texts.filters));

  function now() {
    clearTimeout(timer);
    keep();
    draw();
    changed(values());
  }

  function keep() {
    readdress(withQuery(path, { ...values(), sort: list?.sort }));
  }

  function draw() {
    const used = Object.entries(values()).filter(([name, value]) => name !== "q" && value !== "");
    clear.hidden = !isUsed();
    fill(fold, icon("filter"), h("span", {}, texts.filtersUsed(used.length)));
  }

  /** @param {Record<string, string>} wantedValues */
  function set(wantedValues) {
    for (const [name, field] of fields) {
      delete field.dataset.wanted;
      field.value = wantedValues[name] ?? "";
    }
    now();
  }

  /** @param {Filter} filter */
  function labelled(filter) {
    const id = uniqueId(filter.name);
    const field = control(filter, id, initial.get(filter.name) ?? "", announce);
    fields.set(filter.name, field);
    const suggestions = filter.suggest && suggested(field, filter.suggest);
    return h(
      "div",
      { className: `field filter-${filter.name}` },
      h("label", { htmlFor: id }, filter.label),
      field,
      suggestions,
    );
  }

  const search = isSearched && labelled({ name: "q", label: texts.search });
  const others = filters.map(labelled);
  const folded = h("details", { open: WIDE.matches }, fold, h("div", {}, ...others));
  WIDE.addEventListener("change", () => {
    folded.open = WIDE.matches;
  });
  const element = h(
    "form",
    {
      className: "search",
      role: "search",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        now();
      },
    },
    search,
    filters.length > 0 && folded,
    h(
      "div",
      { className: "tools" },
      clear,
      filters.length > 0 && menu(texts.savedFilters, "save", (close) => saved(path, values, set, close)),
    ),
  );
  draw();
  if (list) Object.assign(list, { sort: initial.get("sort") ?? "", sorted: keep });
  /** What a list without rows shows: the next step. @param {Node | string} none if nothing is searched for */
  const empty = (none) =>
    isUsed()
      ? h("p", {}, texts.noMatch, " ", h("button", { type: "button", onclick: () => set({}) }, texts.clear))
      : none;
  return { element, values, empty };
}

/** What a list of choices that is not loaded yet will show. @param {Field} field */
function wanted(field) {
  return field.dataset.wanted;
}

/** @param {Filter} filter @param {string} id @param {string} value @param {() => void} announce
 * @returns {Field} */
function control({ name, kind, choices, load }, id, value, announce) {
  if (!choices && !load) {
    const type = kind ?? "search";
    return h("input", { id, name, value, type, autocomplete: "off", oninput: announce });
  }
  const select = h("select", { id, name, onchange: announce });
  /** @param {[string, string][]} all */
  const offer = (all) =>
    fill(
      select,
      ...[/** @type {[string, string]} */ (["", texts.any]), ...all].map(([key, text]) =>
        h("option", { value: key, selected: key === value }, text),
      ),
    );
  offer(choices ?? []);
  if (load) {
    select.dataset.wanted = value;
    void load().then(
      (all) => {
        // A value of the address that no record has any more is still shown.
        const isKnown = all.some(([key]) => key === value);
        offer(value === "" || isKnown ? all : [...all, [value, value]]);
        delete select.dataset.wanted;
      },
      () => offer([[value, value]]),
    );
  }
  return select;
}

/**
 * The filters that are kept in this browser.
 *
 * @param {string} path
 * @param {() => Record<string, string>} values
 * @param {(values: Record<string, string>) => void} set
 * @param {() => void} close
 */
function saved(path, values, set, close) {
  const key = `filters ${path}`;
  /** @type {Record<string, Record<string, string>>} */
  const all = store.read(key, {});
  const id = uniqueId("name");
  const name = h("input", { id, autocomplete: "off", required: true });
  return [
    Object.keys(all).length > 0 &&
      h(
        "ul",
        {},
        ...Object.entries(all).map(([title, one]) =>
          h(
            "li",
            {},
            h("button", { type: "button", className: "plain link", onclick: () => (set(one), close()) }, title),
            h(
              "button",
              {
                type: "button",
                className: "plain",
                "aria-label": texts.forgetFilters(title),
                onclick: () => {
                  delete all[title];
                  store.write(key, all);
                  close();
                },
              },
              "×",
            ),
          ),
        ),
      ),
    h("label", { htmlFor: id }, texts.nameOfFilters),
    name,
    h(
      "button",
      {
        type: "button",
        onclick: () => {
          if (!name.reportValidity()) return;
          store.write(key, { ...all, [name.value.trim()]: values() });
          close();
        },
      },
      texts.saveFilters,
    ),
  ];
}

/**
 * The list of values that the browser offers below a field.
 *
 * @param {HTMLElement} field
 * @param {(typed: string) => Promise<string[]>} suggest
 */
function suggested(field, suggest) {
  const list = h("datalist", { id: uniqueId("suggestions") });
  field.setAttribute("list", list.id);
  /** @type {number | undefined} */
  let timer;
  const load = async () => {
    const values = await suggest(/** @type {HTMLInputElement} */ (field).value.trim());
    fill(list, ...values.map((value) => h("option", { value })));
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load().catch(() => {}), PAUSE_MS);
  };
  field.addEventListener("input", soon);
  field.addEventListener("focus", soon, { once: true });
  return list;
}

// What can be done with a table whose newest rows are in the page: read it again, export all of
// it.

/**
 * @param {string} caption
 * @param {() => string | Promise<string>} file the list of the API with the filters
 * @param {() => Promise<void>} refresh
 */
export function tableTools(caption, file, refresh) {
  const said = h("p", { className: "count", role: "status" });
  const tools = readAndWrite(caption, refresh, file);
  return {
    element: h("div", { className: "list-tools" }, said, tools.refresh, tools.write),
    /** @param {number} rows @param {boolean} isMore */
    say: (rows, isMore) => update(said, (isMore ? texts.newestRows : texts.rowCount)(rows)),
  };
}

/**
 * A table of the newest rows, and the button that adds older ones. The newest request is shown,
 * whichever is answered last.
 *
 * @template T
 * @param {(rows: T[]) => Element} table
 * @param {AbortSignal} signal
 * @param {{page: (after?: string) => Promise<{rows: T[], next?: string}>, older?: string,
 *   said?: (rows: number, isMore: boolean) => void, changed?: (rows: T[]) => void}} options
 *   `next`: where the page after this one begins, none after the last
 */
export function growing(table, signal, { page, older = texts.older, said, changed }) {
  /** @type {T[]} */
  let rows = [];
  /** @type {string | undefined} */
  let next;
  let turn = 0;
  const place = h("div", { className: "rows", "aria-live": "polite" });
  const more = h("button", { hidden: true, onclick: () => load(next) }, older);
  /** @param {string} [after] without: anew */
  async function load(after) {
    const own = (turn += 1);
    more.hidden = more.hidden || after === undefined;
    try {
      const found = await page(after);
      if (own !== turn) return;
      rows = after === undefined ? found.rows : [...rows, ...found.rows];
      next = found.next;
      more.hidden = next === undefined;
      fill(place, table(rows));
    } catch (error) {
      if (signal.aborted || own !== turn) return;
      fill(place, errorBox(error));
      return changed?.([]);
    }
    said?.(rows.length, !more.hidden);
    changed?.(rows);
  }
  return { place, more, load };
}
