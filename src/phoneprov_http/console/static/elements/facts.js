/** Names and values of one record, and states as badges. */

import { h } from "../dom.js";
import { icon } from "../icons.js";

/** @param {[string, import("../dom.js").Child][]} pairs @param {"" | "across" | "twofold"} [shape] beside
 * each other, or in two columns, on wide screens */
export function facts(pairs, shape = "") {
  return h(
    "dl",
    { className: `facts ${shape}` },
    ...pairs.flatMap(([name, value]) => [
      h("dt", {}, name),
      h("dd", {}, value === null || value === undefined || value === "" ? "-" : value),
    ]),
  );
}

/** What a state means for the operator. @type {Record<string, string>} */
const MEANINGS = {
  deployed: "good",
  confirmed: "good",
  done: "good",
  served: "good",
  created: "good",
  updated: "good",
  failed: "bad",
  not_confirmed: "bad",
  interrupted: "wait",
  error: "bad",
  refused: "bad",
  stopped: "bad",
  unknown: "unknown",
  not_found: "unknown",
  running: "wait",
  pending: "wait",
  waiting: "wait",
  warning: "wait",
  fine: "good",
  foreign: "bad",
  unreachable: "bad",
  wrong_model: "wait",
  wrong_load: "bad",
  user_inactive: "bad",
  unregistered: "bad",
  file_changed: "wait",
  never_seen: "unknown",
  agrees: "good",
  differs: "bad",
  not_registered: "unknown",
};

/** @param {string} state */
export const meaningOf = (state) => MEANINGS[state] ?? "none";

/** A state of the API as a word with a colour and a drawing.
 * @param {string} state @param {Record<string, string>} words */
export function badge(state, words) {
  const meaning = meaningOf(state);
  return h("span", { className: `badge ${meaning} ${state}` }, icon(meaning), words[state] ?? state);
}
