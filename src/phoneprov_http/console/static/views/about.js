/** The caller's account, password, PIN, API tokens and sessions; the state of the service. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { heading, section } from "../elements/heading.js";
import { recordForm } from "../elements/record-form.js";
import { PASSWORD } from "../fields.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { fullName } from "./people.js";
import { pinPart } from "./person.js";
import { providerButton } from "./sign-in.js";
import { identitiesPart, sessionsPart } from "./sessions.js";
import { tokensPart } from "./tokens.js";

/** @type {import("../router.js").View} */
export async function view(place) {
  const { element, signal } = place;
  const me = (await api.get("me", signal)).data;
  const state = await readiness(signal);
  const pin = h("div");
  pinPart(pin, me);
  const tokens = h("section", { className: "panel" });
  const sessions = h("section", { className: "panel" });
  const identities = h("section", { className: "panel" });
  /** @returns {Promise<unknown>} */
  const drawAccess = () =>
    Promise.all([
      tokensPart(tokens, signal),
      sessionsPart(sessions, signal),
      identitiesPart(identities, signal, disconnected),
    ]);
  const disconnected = async () => {
    await session.renew();
    await view(place);
  };
  await drawAccess();
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
        section(texts.password, password(() => void drawAccess())),
        session.isConnected !== null && section(texts.provider, connection()),
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
    sessions,
    identities,
  );
}

/** Whether the account is connected with the provider, and the button that connects it. */
function connection() {
  if (session.isConnected) return h("p", {}, texts.isConnected);
  return h("div", {}, h("p", { className: "quiet" }, texts.connectHint), providerButton(texts.connect));
}

/** @param {() => void} saved */
function password(saved) {
  let said = "";
  const { form } = recordForm(
    PASSWORD,
    {},
    (values) => {
      said = values.end_tokens ? texts.passwordSavedTokensEnded : texts.passwordSaved;
      return api.put("me/password", values);
    },
    { said: () => said, saved },
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
