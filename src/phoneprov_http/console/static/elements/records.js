/** The page of a record and the dialogs of a list of records: tabs, removal, names with values. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { here } from "../navigation.js";
import { texts } from "../texts.js";
import { recordForm } from "./forms.js";
import { ask, auditLink, errorBox, messageOf, notice, show } from "./parts.js";

// The parts of a page as tabs; a part is loaded when it is first shown, or each time (`isAnew`).

/**
 * @typedef {{name: string, title: string, isAnew?: boolean,
 *   show: (panel: HTMLElement) => Promise<void> | void}} Tab
 */

/**
 * @param {string} label
 * @param {Tab[]} tabs
 * @param {string} chosen the name of the tab that is shown first
 * @param {(name: string) => void} changed
 */
export function tabs(label, tabs, chosen, changed) {
  const parts = tabs.map((tab) => {
    const id = uniqueId("tab");
    const panelId = `${id}-panel`;
    const panel = h("div", { id: panelId, role: "tabpanel", "aria-labelledby": id, hidden: true });
    const button = h(
      "button",
      {
        id,
        type: "button",
        role: "tab",
        "aria-controls": panelId,
        onclick: () => select(tab.name),
      },
      tab.title,
    );
    return { tab, button, panel, isLoaded: false };
  });

  /** @param {string} name */
  function select(name) {
    for (const part of parts) {
      const isChosen = part.tab.name === name;
      part.button.setAttribute("aria-selected", String(isChosen));
      part.button.tabIndex = isChosen ? 0 : -1;
      part.panel.hidden = !isChosen;
      if (isChosen && (part.tab.isAnew || !part.isLoaded)) void load(part);
      // Where the tabs are wider than the window, the chosen one and its neighbours are in sight.
      if (isChosen) requestAnimationFrame(() => reveal(part.button));
    }
    changed(name);
  }

  /** @param {parts[0]} part */
  async function load(part) {
    part.isLoaded = true;
    fill(part.panel, h("p", { className: "quiet" }, texts.loading));
    part.panel.setAttribute("aria-busy", "true");
    try {
      const content = h("div");
      await part.tab.show(content);
      fill(part.panel, content);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) {
        fill(part.panel, errorBox(error));
      }
    } finally {
      part.panel.removeAttribute("aria-busy");
    }
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const at = parts.findIndex(({ button }) => button === document.activeElement);
    const steps = /** @type {Record<string, number>} */ ({
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: parts.length - 1,
    });
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = parts[(steps[event.key] + parts.length) % parts.length];
    next.button.focus();
    select(next.tab.name);
  }

  /** @param {HTMLElement} button */
  function reveal({ offsetLeft, offsetWidth }) {
    list.scrollLeft = offsetLeft - list.offsetLeft - (list.offsetWidth - offsetWidth) / 2;
  }

  const list = h(
    "div",
    { className: "tabs", role: "tablist", "aria-label": label, onkeydown: key },
    ...parts.map(({ button }) => button),
  );
  select(parts.some(({ tab }) => tab.name === chosen) ? chosen : parts[0].tab.name);
  return h("div", {}, list, ...parts.map(({ panel }) => panel));
}

// Deleting a record: a question, then what was done.

/**
 * Whether the record of `path` was deleted, and its view is still shown.
 *
 * @param {string} path
 * @param {string} title
 * @param {{question?: string, confirmation?: string, details?: Node, said?: string}} [options]
 */
export async function removed(path, title, options = {}) {
  const { question = texts.deleteQuestion(title), confirmation = texts.remove, details, said = texts.deleted(title) } = options;
  const isHere = here();
  if (!(await ask(question, confirmation, { isDangerous: true, details }))) return false;
  try {
    await api.remove(path);
    notice(said);
    return isHere();
  } catch (error) {
    notice(messageOf(error), "failed");
    return false;
  }
}

// A dialog that creates, changes or deletes one record.

/**
 * `path` is the list's for a new record, otherwise the record's own; `record` is null for a new
 * one, which begins with the values `initial`; `name` says what it is in messages; `send` stands
 * for the usual request, with all values; `after` stands below the form.
 *
 * @param {{title: string, path: string, fields: import("../fields.js").Field[], record: any,
 *   initial?: Record<string, any>, id?: string, send?: (values: any, record: any) => Promise<any>, name?: (record: any) => string, changed: (record: any) => void, after?: Node}} options
 */
export function recordDialog({ title, path, fields, record, initial, id = record?.uuid, send, name, changed, after }) {
  const named = (/** @type {any} */ one) => name?.(one) ?? one?.name ?? title;
  /** @param {() => void} close */
  const content = (close) => {
    /** @param {any} data */
    const done = (data) => {
      close();
      changed(data);
    };
    const { form } = recordForm(
      fields,
      record ?? initial ?? { is_active: true },
      (values) => send?.(values, record) ?? (record ? api.put(path, values) : api.post(path, values)),
      {
        changesOnly: record !== null && !send,
        saved: ({ data }) => done(data),
        said: ({ data }) => (record ? texts.saved : texts.created)(named(data)),
        button: record ? texts.save : texts.create,
      },
    );
    const remove = async () => {
      if (await removed(path, named(record))) done(null);
    };
    if (record) {
      form.lastElementChild?.append(
        h("button", { type: "button", className: "danger", onclick: remove }, texts.remove),
        auditLink(id) || "",
      );
    }
    return after ? h("div", {}, form, after) : form;
  };
  void show(title, content);
}

// Names with texts, as rows that can be added and removed.

/** @param {{label: string, hint: string, values: Record<string, string>}} options */
export function pairEditor({ label, hint, values }) {
  const id = uniqueId("pairs");
  const rows = h("div", { className: "pairs" });
  /** @param {string} name @param {string} text */
  const row = (name, text) => {
    const element = h(
      "div",
      { className: "pair" },
      h("input", { value: name, "aria-label": texts.valueName, placeholder: texts.valueName, autocomplete: "off" }),
      h("textarea", { value: text, rows: 1, "aria-label": texts.valueText, placeholder: texts.valueText }),
      h(
        "button",
        { type: "button", className: "plain", "aria-label": texts.removeValue, onclick: () => element.remove() },
        "×",
      ),
    );
    return element;
  };
  const add = () => {
    const element = row("", "");
    rows.append(element);
    element.querySelector("input")?.focus();
  };
  fill(rows, ...Object.entries(values).map(([name, text]) => row(name, text)));
  return {
    element: h(
      "div",
      { role: "group", "aria-labelledby": id },
      h("h2", { id }, label),
      h("p", { className: "hint" }, hint),
      rows,
      h("button", { type: "button", onclick: add }, texts.addValue),
    ),
    /** @returns {Record<string, string>} rows without a name are left out */
    value: () =>
      Object.fromEntries(
        [...rows.children]
          .map((one) => [...one.querySelectorAll("input, textarea")].map((field) => /** @type {HTMLInputElement} */ (field).value))
          .filter(([name]) => name.trim() !== "")
          .map(([name, text]) => [name.trim(), text]),
      ),
  };
}
