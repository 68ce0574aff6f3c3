/** What a batch would change, in groups of phones with the same difference. */

import { h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { simpleTable } from "../elements/simple-table.js";
import { count } from "../format.js";
import { inWords } from "../labels.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";

/**
 * @typedef {{count: number, macs: string[], diff: string}} Group
 * @typedef {{count: number, macs: string[], message: string}} Problem
 * @param {{phones: number, unchanged: number, changed: number, unfit: number, groups: Group[],
 *   problems: Problem[]}} plan
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
    plan.problems.length > 0 &&
      simpleTable(
        texts.whyUnfit,
        [texts.message, texts.phones],
        plan.problems.map((one) => [inWords(one.message), phones(one, names)]),
      ),
  ];
}

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
  const links = macs.flatMap((mac) => [h("a", { href: `#/phones/${mac}` }, phoneTitle({ mac, name: names.get(mac) })), " "]);
  return h("p", { className: "quiet" }, ...links, all > macs.length && texts.andMore(all - macs.length));
}
