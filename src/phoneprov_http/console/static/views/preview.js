/** What a switch would do, as the server computed it. */

import { h } from "../dom.js";
import { badge, facts } from "../elements/facts.js";
import { sideBySide } from "../elements/side-by-side.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { texts } from "../texts.js";

/** @param {import("../../types").Preview} data */
export function previewed(data) {
  const { compatible, objection, on_phone: now } = data;
  return [
    h("p", { className: compatible ? "good" : "error" }, objection ?? texts.compatible),
    facts([
      [texts.now, now ? texts.profileRevision(now.profile_name, now.revision) : texts.notKnownHere],
      [texts.then, texts.profileRevision(data.profile, data.revision)],
      [texts.serverReach, reach(data.server)],
      [texts.phoneReach, reach(data.phone)],
      ...needsReset(data.needs_reset),
    ]),
    h("h3", {}, texts.changes),
    data.diff
      ? sideBySide(data.diff, texts.before, texts.after)
      : h("p", {}, data.diff_note ?? texts.unchanged),
    h("h3", {}, texts.findings),
    simpleTable(
      texts.findings,
      [texts.line, texts.state, sentences(texts.message)],
      data.findings.map((one) => [one.line, badge(one.severity, texts.severities), one.message]),
      texts.noFindings,
    ),
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
  return `${word}: ${message}`;
}
