/** Names and values of one record. */

import { h } from "../dom.js";

/** @param {[string, import("../dom.js").Child][]} pairs */
export function facts(pairs) {
  return h(
    "dl",
    { className: "facts" },
    ...pairs.flatMap(([name, value]) => [
      h("dt", {}, name),
      h("dd", {}, value === null || value === undefined || value === "" ? "-" : value),
    ]),
  );
}

/** @param {string} state a state of the API @param {Record<string, string>} words */
export function badge(state, words) {
  return h("span", { className: `badge ${state}` }, words[state] ?? state);
}
