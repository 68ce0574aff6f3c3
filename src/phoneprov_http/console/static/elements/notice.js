/** Short messages about what happened; read out by screen readers. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

const STAYS_MS = 8000;

/** @param {string} message @param {"done" | "failed"} [kind] */
export function notice(message, kind = "done") {
  const place = document.getElementById("notices");
  const remove = () => element.remove();
  const element = h(
    "div",
    { className: `notice ${kind}` },
    h("span", {}, message),
    h("button", { className: "plain", "aria-label": texts.close, onclick: remove }, "×"),
  );
  place?.append(element);
  if (kind === "done") setTimeout(remove, STAYS_MS);
}
