/** Phones chosen in any list for a new batch. */

import { h } from "../dom.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";

/** @type {{macs: string[]}} */
export const chosen = { macs: [] };

/** The button that starts a new batch for these phones. @param {string[]} macs
 * @param {"primary" | ""} [className] */
export function batchButton(macs, className = "primary") {
  const phones = [...new Set(macs)];
  const onclick = () => {
    chosen.macs = phones;
    go("/batches/new?selected=1");
  };
  return h("button", { className, onclick }, texts.batchFor(phones.length));
}
