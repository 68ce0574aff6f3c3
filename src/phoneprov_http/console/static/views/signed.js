/** Phones of another call manager, which request a signed configuration and take no other. */

import { h } from "../dom.js";
import { texts } from "../texts.js";

/** Whether a name is that of a signed configuration. @param {string} name */
export const isSigned = (name) => /\.cnf\.xml(\.enc)?\.sgn$/i.test(name);

/** What to do about such a phone; empty if none of these requests was one. @param {string[]} names */
export const signedHint = (names) =>
  names.some(isSigned) ? h("p", { className: "hint", role: "note" }, texts.signedHint) : "";
