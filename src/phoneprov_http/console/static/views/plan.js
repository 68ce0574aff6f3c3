/** What a batch would change, in groups of phones with the same difference; and what it would do. */

import { h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { count, moments } from "../format.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";

/**
 * @typedef {{count: number, macs: string[], diff: string}} Group
 * @typedef {{count: number, macs: string[], message: string}} Problem
 * @param {{phones: number, unchanged: number, changed: number, unfit: number, groups: Group[],
 *   problems: Problem[], notes: Problem[]}} plan
 * @param {Map<string, string>} [names] of the phones
 */
export function planned(plan, names = new Map()) {
  return [
    h("h2", {}, texts.planTitle),
    facts(
      [
        [texts.phones, count(plan.phones)],
        [texts.planChanged, count(plan.changed)],
        [texts.planUnchanged, count(plan.unchanged)],
        [texts.planUnfit, count(plan.unfit)],
      ],
      "across",
    ),
    ...plan.groups.map((group) =>
      h("section", { className: "panel" }, h("h2", {}, texts.planGroup(group.count)), lines(group.diff), phones(group, names)),
    ),
    ...[
      { title: texts.planNotes, found: plan.notes },
      { title: texts.whyUnfit, found: plan.problems },
    ].map(
      ({ title, found }) =>
        found.length > 0 &&
        simpleTable(
          title,
          [texts.message, texts.phones],
          found.map((one) => [inWords(one.message), phones(one, names)]),
        ),
    ),
  ];
}

/**
 * What a batch would do.
 * @param {import("../../types").Rehearsal} rehearsal
 * @param {Map<string, string>} [names] of the phones
 */
export function rehearsed(rehearsal, names = new Map()) {
  const { outcomes, foretold } = rehearsal;
  const unknown = foretold.filter((one) => one.outcome === "unknown").map((one) => one.mac);
  const kinds = /** @type {(keyof typeof outcomes)[]} */ (Object.keys(texts.rehearsalOutcomes));
  const undone = /** @type {[string, string][]} */ ([[texts.wouldBeUndone, count(rehearsal.undone)]]);
  return [
    h("h2", {}, texts.rehearsalTitle(moments(rehearsal.as_of))),
    rehearsal.stopped_because && h("p", { className: "problem" }, `${texts.wouldStop}: ${inWords(rehearsal.stopped_because)}`),
    facts(
      [
        [texts.phones, count(rehearsal.phones)],
        ...kinds.map((kind) => /** @type {[string, string]} */ ([texts.rehearsalOutcomes[kind], count(outcomes[kind])])),
        [texts.wouldTake, lasting(rehearsal.seconds)],
        ...(rehearsal.undone > 0 ? undone : []),
      ],
      "across",
    ),
    rehearsal.first_failures.length > 0 &&
      simpleTable(
        texts.wouldFail,
        [texts.phone, sentences(texts.message), texts.evidence],
        rehearsal.first_failures.map((one) => [linkTo(one.mac, names), inWords(one.message), ...known(one)]),
      ),
    unknown.length > 0 && h("h2", {}, texts.phonesNotKnown),
    unknown.length > 0 && phones({ count: unknown.length, macs: unknown.slice(0, MOST_NAMED) }, names),
    simpleTable(
      texts.timeline,
      [texts.afterSeconds, sentences(texts.message)],
      rehearsal.timeline.map((one) => [lasting(one.seconds), inWords(one.message)]),
    ),
  ];
}

const MOST_NAMED = 20;

/** @param {{evidence: keyof typeof texts.evidences, evidence_at: string | null}} one */
function known({ evidence, evidence_at }) {
  return [[texts.evidences[evidence], evidence_at && moments(evidence_at)].filter(Boolean).join(", ")];
}

/** @param {number} seconds */
const lasting = (seconds) =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

/** @param {string} mac @param {Map<string, string>} names */
const linkTo = (mac, names) => h("a", { href: `#/phones/${mac}` }, phoneTitle({ mac, name: names.get(mac) }));

/** @param {string} diff */
function lines(diff) {
  const kinds = /** @type {Record<string, "ins" | "del" | "span">} */ ({ "+": "ins", "-": "del" });
  return h(
    "pre",
    { className: "code", tabIndex: 0, role: "region", "aria-label": texts.changes },
    ...diff.trimEnd().split("\n").map((line) => h(kinds[line[0]] ?? "span", {}, `${line}\n`)),
  );
}

/** @param {{count: number, macs: string[]}} group @param {Map<string, string>} names */
function phones({ count: all, macs }, names) {
  const links = macs.flatMap((mac) => [linkTo(mac, names), " "]);
  return h("p", { className: "quiet" }, ...links, all > macs.length && texts.andMore(all - macs.length));
}
