/** What a switch would do, as the server computed it. */

import { h } from "../dom.js";
import { badge, facts } from "../elements/facts.js";
import { sideBySide } from "../elements/side-by-side.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";

/** @param {import("../../types").Preview} data */
export function previewed(data) {
  return [
    fits(data),
    facts([...versions(data), [texts.serverReach, reach(data.server)], [texts.phoneReach, reach(data.phone)], ...needsReset(data.needs_reset)]),
    ...onServer(data),
    ...changes(data),
    h("h3", {}, texts.findings),
    simpleTable(
      texts.findings,
      [texts.line, texts.severity, sentences(texts.message)],
      data.findings.map((one) => [one.line, badge(one.severity, texts.severities), one.message]),
      texts.noFindings,
    ),
  ];
}

/** The same beside an editor, which shows the findings at their lines.
 * @param {import("../../types").Preview} data */
export const previewedBeside = (data) => [
  fits(data),
  ...changes(data),
  facts([...versions(data), ...needsReset(data.needs_reset)]),
];

/** @param {import("../../types").Preview} data */
const fits = ({ compatible, objection }) =>
  h("p", { className: compatible ? "good" : "error" }, objection === null ? texts.compatible : inWords(objection));

/** @param {import("../../types").Preview} data @returns {[string, string][]} */
const versions = ({ on_phone: now, profile, revision }) => [
  [texts.now, now ? texts.profileRevision(now.profile_name, now.revision) : texts.notKnownHere],
  [texts.then, texts.profileRevision(profile, revision)],
];

/** @param {import("../../types").Preview} data */
const changes = ({ diff, diff_note: note }) => [
  h("h3", {}, texts.changes),
  diff ? sideBySide(diff, texts.before, texts.after) : h("p", {}, note ?? texts.unchanged),
];

/** A file that another program changed.
 * @param {import("../../types").Preview} data */
function onServer({ file_note: note, file_diff: diff }) {
  if (note === null) return [];
  return [
    h("h3", {}, texts.fileOnServer),
    h("p", { className: "state wait" }, note),
    diff && sideBySide(diff, texts.asDeployed, texts.onServerNow),
  ];
}

/** @param {string[]} elements @returns {[string, string][]} */
function needsReset(elements) {
  return elements.length > 0 ? [[texts.needsReset, elements.join(", ")]] : [];
}

/** @param {{reachable: boolean | null, message: string}} found */
function reach({ reachable, message }) {
  const word =
    reachable === null ? texts.notKnown : reachable ? texts.reachable : texts.notReachable;
  return `${word}: ${inWords(message)}`;
}
