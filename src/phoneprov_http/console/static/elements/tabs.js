/** The parts of a page as tabs; a part is loaded when it is first shown. */

import { fill, h, uniqueId } from "../dom.js";
import { errorBox } from "./error-box.js";
import { texts } from "../texts.js";

/**
 * @typedef {{name: string, title: string, show: (panel: HTMLElement) => Promise<void> | void}} Tab
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
      if (isChosen && !part.isLoaded) void load(part);
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
