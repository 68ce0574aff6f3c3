/** A whole as a bar of its parts: how far a batch is, in which states the phones are. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

const PARTS = /** @type {const} */ (["done", "failed", "unknown", "left_out", "running"]);

/**
 * @param {string} said what the bar says to readers of the screen
 * @param {[string, number][]} parts the class and the size of each
 * @param {number} total
 * @param {boolean} [isLarge]
 */
export function stack(said, parts, total, isLarge = false) {
  const shown = parts.map(([className, size]) => {
    const part = h("span", { className });
    part.style.width = `${(size / Math.max(total, 1)) * 100}%`;
    return part;
  });
  const className = isLarge ? "stack large" : "stack";
  return h("span", { className, role: "img", "aria-label": said, title: said }, ...shown);
}

/** @param {import("../../types").Batch["phones"]} phones @param {boolean} [isLarge] */
export function progressBar(phones, isLarge = false) {
  const parts = PARTS.map((name) => /** @type {[string, number]} */ ([name, phones[name]]));
  return stack(texts.progressOf(phones), parts, phones.total, isLarge);
}
