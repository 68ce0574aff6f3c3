/** The first page of a helpdesk, and of a person with a phone. */

import { NEWEST, api, session, withQuery } from "../api.js";
import { ago, fill, h } from "../dom.js";
import { errorBox, heading, help, section, sentences, simpleTable } from "../elements/parts.js";
import { texts } from "../texts.js";
import { outcomeOf } from "./deployments.js";
import { fullName, numbersIn, numbersOf, peopleIn, phoneNames, phoneTitle, problemOf, withNumbers } from "./shared.js";

// The start page of a helpdesk: find a person, see who is at which phone. What is done stands on
// the pages of the person and of the phone.

const MOST_ROWS = 20;

/** @type {import("../router.js").View} */
export async function helpdeskView({ element, signal }) {
  const found = h("div", { "aria-live": "polite" });
  const field = h("input", {
    type: "search",
    "aria-label": texts.findPerson,
    placeholder: texts.findPersonHint,
    autocomplete: "off",
  });
  const submitted = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const q = field.value.trim();
    if (q === "") return;
    try {
      const { data } = await api.get(withQuery("users", { q, limit: MOST_ROWS }), signal);
      fill(found, people(await withNumbers("users", data, signal)));
    } catch (error) {
      if (!signal.aborted) fill(found, errorBox(error));
    }
  };
  const used = withQuery("phones/summaries", { in_use: true, limit: MOST_ROWS });
  /** @type {(import("../../types").PhoneSummary & {whose?: import("../../types").Numbered})[]} */
  const phones = await withNumbers("phones", (await api.get(used, signal)).data, signal);
  fill(
    element,
    heading(
      texts.helpdesk,
      h("a", { className: "button primary", href: "#/switch" }, texts.switchTitle),
      help("explanation/levels"),
    ),
    h("p", {}, texts.helpsAt(session.me?.rights?.[0]?.locations ?? [])),
    section(
      texts.findPerson,
      h(
        "form",
        { className: "in-line", role: "search", "aria-label": texts.findPerson, onsubmit: submitted },
        field,
        h("button", { type: "submit" }, texts.findPerson),
      ),
      found,
    ),
    section(
      texts.phonesInUse,
      simpleTable(
        texts.phonesInUse,
        [texts.deskUser, texts.numberOf, texts.phone, texts.location, texts.since],
        phones.map((one) => [
          h("a", { href: `#/people/${one.use.user_uuid}` }, peopleIn(one) || (one.use.username ?? "")),
          numbersIn(one),
          h("a", { href: `#/phones/${one.mac}?tab=desk` }, phoneTitle(one)),
          one.location,
          ago(one.use.since),
        ]),
        texts.noPhoneInUse,
      ),
    ),
  );
  field.focus();
}

/** @param {(import("../../types").User & {whose?: import("../../types").Numbered})[]} users */
function people(users) {
  return simpleTable(
    texts.people,
    [texts.name, texts.numberOf, texts.username, texts.location, texts.action],
    users.map((user) => [
      h("a", { href: `#/people/${user.uuid}` }, fullName(user)),
      numbersIn(user),
      user.username,
      user.location,
      h("a", { className: "button", href: `#/people/${user.uuid}?tab=pin` }, texts.pin),
    ]),
    texts.noPersonFound,
  );
}

// The overview of an account without level 0: its phone, its profiles, its newest changes.

const MOST_OWN = 10;

/** @type {import("../router.js").View} */
export async function ownOverviewView({ element, signal }) {
  const newest = withQuery("deployments", { before: NEWEST, limit: MOST_OWN });
  const me = session.me?.uuid ?? "";
  const [all, profiles, deployments, whose] = await Promise.all([
    api.get("desks", signal),
    api.get(withQuery("phone-profiles", { limit: MOST_OWN }), signal),
    api.get(newest, signal),
    numbersOf("users", [me], signal),
  ]);
  const numbers = numbersIn({ whose: whose.get(me) });
  /** @type {import("../../types").Desk[]} */
  const desks = all.data.slice(0, MOST_OWN);
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
        numbers && h("p", {}, texts.yourNumber(numbers)),
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
