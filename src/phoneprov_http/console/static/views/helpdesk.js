/** The start page of a helpdesk: find a person, see who is at which phone. What is done stands on
 * the pages of the person and of the phone. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { heading, help, section } from "../elements/heading.js";
import { simpleTable } from "../elements/simple-table.js";
import { ago } from "../format.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";
import { fullName } from "./people.js";

const MOST_ROWS = 20;

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
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
      fill(found, people(data));
    } catch (error) {
      if (!signal.aborted) fill(found, errorBox(error));
    }
  };
  const used = withQuery("phones/summaries", { in_use: true, limit: MOST_ROWS });
  /** @type {import("../../types").PhoneSummary[]} */
  const phones = (await api.get(used, signal)).data;
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
        { className: "record", role: "search", "aria-label": texts.findPerson, onsubmit: submitted },
        field,
        h("div", { className: "actions" }, h("button", { type: "submit" }, texts.findPerson)),
      ),
      found,
    ),
    section(
      texts.inUse,
      simpleTable(
        texts.inUse,
        [texts.deskUser, texts.phone, texts.location, texts.since],
        phones.map((one) => [
          h("a", { href: `#/people/${one.use.user_uuid}` }, one.use.username ?? ""),
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

/** @param {import("../../types").User[]} users */
function people(users) {
  return simpleTable(
    texts.people,
    [texts.name, texts.username, texts.location, texts.action],
    users.map((user) => [
      h("a", { href: `#/people/${user.uuid}` }, fullName(user)),
      user.username,
      user.location,
      h("a", { className: "button", href: `#/people/${user.uuid}?tab=pin` }, texts.pin),
    ]),
    texts.noPersonFound,
  );
}
