/** How far a batch is, as a bar: each part is a state of its phones. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

const PARTS = /** @type {const} */ (["done", "failed", "unknown", "left_out", "running"]);

/** @param {import("../../types").Batch["phones"]} phones @param {boolean} [isLarge] */
export function progressBar(phones, isLarge = false) {
  const parts = PARTS.map((name) => {
    const part = h("span", { className: name });
    part.style.width = `${(phones[name] / Math.max(phones.total, 1)) * 100}%`;
    return part;
  });
  const said = texts.progressOf(phones);
  const className = isLarge ? "stack large" : "stack";
  return h("span", { className, role: "img", "aria-label": said, title: said }, ...parts);
}
