/** Keys for the whole console: `/` searches, `g` and a letter goes to a page, `?` shows them. */

import { h } from "./dom.js";
import { show } from "./elements/dialog.js";
import { go } from "./navigation.js";
import { session } from "./session.js";
import { links } from "./shell.js";
import { texts } from "./texts.js";

const SECOND_KEY_MS = 1500;

let wentAt = -Infinity;

export function listenForShortcuts() {
  addEventListener("keydown", (event) => {
    if (session.me === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    if (target instanceof HTMLElement && target.matches("input, textarea, select")) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.timeStamp - wentAt < SECOND_KEY_MS) {
      wentAt = -Infinity;
      const link = links().find(({ key }) => key === event.key);
      if (link) go(link.href.slice(1));
    } else if (event.key === "g") {
      wentAt = event.timeStamp;
    } else if (event.key === "/") {
      event.preventDefault();
      search();
    } else if (event.key === "?") {
      help();
    }
  });
}

/** The search field of the view, or that of the header. */
function search() {
  const field = document.querySelector("main [name=q]") ?? document.querySelector(".finder input");
  /** @type {HTMLElement} */ (field).focus();
}

/** Show the keys. */
export function help() {
  const keys = [
    ["/", texts.search],
    ...links().map(({ key, text }) => [`g ${key}`, text]),
    ["↑ ↓", texts.keysRows],
    ["Enter", texts.keysOpen],
    ["?", texts.shortcuts],
  ];
  void show(texts.shortcuts, () =>
    h(
      "dl",
      { className: "facts" },
      ...keys.flatMap(([key, text]) => [
        h("dt", {}, ...key.split(" ").map((one) => h("kbd", {}, one))),
        h("dd", {}, text),
      ]),
    ),
  );
}
