/** The users that an extension is linked to. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { simpleTable } from "../elements/simple-table.js";
import { texts } from "../texts.js";
import { fullName } from "./people.js";

/** @param {string} uuid of the extension @param {AbortSignal} signal */
export function linkedPart(uuid, signal) {
  const place = h("section", {}, h("h3", {}, texts.linkedTo));
  void api.get(`user-extensions/by-extension/${uuid}`, signal).then(
    ({ data }) =>
      fill(
        place,
        h("h3", {}, texts.linkedTo),
        simpleTable(
          texts.linkedTo,
          [texts.name, texts.username],
          data.map((/** @type {import("../../types").LinkedUser} */ one) => [
            h("a", { href: `#/people/${one.user_uuid}` }, fullName(one)),
            one.username,
          ]),
          texts.none,
        ),
      ),
    () => place.remove(),
  );
  return place;
}
