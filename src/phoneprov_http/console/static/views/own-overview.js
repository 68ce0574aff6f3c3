/** The overview of an account without level 0: its phone, its profiles, its newest changes. */

import { NEWEST, api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { heading } from "../elements/heading.js";
import { sentences, simpleTable } from "../elements/simple-table.js";
import { ago } from "../format.js";
import { texts } from "../texts.js";
import { phoneNames, phoneTitle } from "./accounts.js";
import { outcomeOf, problemOf } from "./deployment.js";

const MOST_ROWS = 10;

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const newest = withQuery("deployments", { before: NEWEST, limit: MOST_ROWS });
  const [all, profiles, deployments] = await Promise.all([
    api.get("desks", signal),
    api.get(withQuery("phone-profiles", { limit: MOST_ROWS }), signal),
    api.get(newest, signal),
  ]);
  /** @type {import("../../types").Desk[]} */
  const desks = all.data.slice(0, MOST_ROWS);
  const names = await phoneNames([...desks, ...deployments.data].map(({ mac }) => mac), signal);
  fill(
    element,
    heading(texts.overview, h("a", { className: "button primary", href: "#/switch" }, texts.switchTitle)),
    h(
      "div",
      { className: "dashboard" },
      h(
        "section",
        { className: "half" },
        h("h2", {}, texts.atPhone),
        desks.length === 0
          ? h("p", {}, texts.atNoPhone)
          : simpleTable(
              texts.atPhone,
              [texts.phone, texts.since],
              desks.map((one) => [
                h("a", { href: `#/phones/${one.mac}` }, phoneTitle({ mac: one.mac, name: names.get(one.mac) })),
                ago(one.since),
              ]),
            ),
      ),
      h(
        "section",
        { className: "half" },
        h("h2", {}, texts.profiles),
        simpleTable(
          texts.profiles,
          [texts.name, texts.changed],
          profiles.data.map((/** @type {import("../../types").Profile} */ one) => [
            h("a", { href: `#/profiles/${one.uuid}` }, one.name),
            ago(one.updated_at),
          ]),
          texts.noProfiles,
        ),
      ),
      h(
        "section",
        { className: "whole" },
        h("h2", {}, texts.deployments),
        simpleTable(
          texts.deployments,
          [texts.at, texts.phone, texts.profileAndRevision, texts.outcome, sentences(texts.message)],
          deployments.data.map((/** @type {import("../../types").Deployment} */ one) => [
            h("a", { href: `#/deployments/${one.uuid}` }, ago(one.created_at)),
            h("a", { href: `#/phones/${one.mac}`, title: one.mac }, names.get(one.mac) || one.mac),
            `${one.profile_name}, ${one.revision}`,
            outcomeOf(one),
            problemOf(one),
          ]),
          texts.noDeployments,
        ),
      ),
    ),
  );
}
