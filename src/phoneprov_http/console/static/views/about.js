/** The caller's account, password and PIN; the state of the service and its version. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { heading, section } from "../elements/heading.js";
import { recordForm } from "../elements/record-form.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { fullName } from "./people.js";
import { pinPart } from "./person.js";
import { tokensPart } from "./tokens.js";

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const me = (await api.get("me", signal)).data;
  const state = await readiness(signal);
  const pin = h("div");
  pinPart(pin, me);
  const tokens = h("section", { className: "panel" });
  await tokensPart(tokens, signal);
  fill(
    element,
    heading(texts.account),
    h(
      "div",
      { className: "two" },
      h(
        "div",
        {},
        facts([
          [texts.username, me.username],
          [texts.name, fullName(me)],
          [texts.email, me.email],
          [texts.permission, me.permission ? `${me.permission.perm_name} (${me.permission.level})` : texts.none],
        ]),
        section(texts.password, session.isAdmin ? password(me.uuid) : h("p", {}, texts.askForPassword)),
        pin,
      ),
      section(
        texts.service,
        facts([
          [texts.state, state],
          [texts.version, session.version],
          [
            texts.help,
            h(
              "ul",
              { className: "plain" },
              h("li", {}, h("a", { href: "#/help/how-to/console" }, texts.helpOfConsole)),
              h("li", {}, h("a", { href: "../docs" }, texts.apiDocs)),
            ),
          ],
        ]),
      ),
    ),
    tokens,
  );
}

/** @param {string} uuid */
function password(uuid) {
  const { form } = recordForm(
    [
      {
        name: "password",
        label: texts.newPassword,
        kind: "password",
        isRequired: true,
        autocomplete: "new-password",
        hint: texts.ownPasswordHint,
      },
    ],
    {},
    (values) => api.put(`users/${uuid}`, values),
    { said: () => texts.passwordSaved },
  );
  return form;
}

/** @param {AbortSignal} signal */
async function readiness(signal) {
  try {
    const url = new URL("../health/ready", document.baseURI);
    const body = await (await fetch(url, { signal })).json();
    return body.message ?? "-";
  } catch {
    return texts.notKnown;
  }
}
