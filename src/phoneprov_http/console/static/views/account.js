/** The own account; PIN, sessions, identities and tokens of any account. */

import { api, session } from "../api.js";
import { ago, fill, h, momentOf, moments, uniqueId, when } from "../dom.js";
import { recordForm } from "../elements/forms.js";
import { errorBox, facts, heading, help, notice, section, show, simpleTable } from "../elements/parts.js";
import { removed } from "../elements/records.js";
import { PASSWORD, PIN, TOKEN } from "../fields.js";
import { guard } from "../navigation.js";
import { texts } from "../texts.js";
import { fullName, lockFact } from "./shared.js";
import { providerButton } from "./sign-in.js";

/** @typedef {import("../../types").OpenSession} OpenSession */
/** @typedef {import("../../types").Identity} Identity */
/** @typedef {import("../../types").ApiToken} ApiToken */
/** @typedef {import("../../types").User} User */

// The open sessions of an account, and its identities at providers, each with its end.

/** `list` is the path of the sessions of the caller, or of any account.
 * @param {HTMLElement} panel @param {AbortSignal} signal @param {string} [list] */
export async function sessionsPart(panel, signal, list = "me/sessions") {
  const sessions = /** @type {OpenSession[]} */ (await api.all(list, {}, signal));
  /** @param {OpenSession} one */
  const end = async ({ uuid, created_at }) => {
    const title = texts.sessionSince(moments(created_at));
    const question = texts.endQuestion(title);
    const said = texts.ended_(title);
    if (await removed(`${list}/${uuid}`, title, { question, confirmation: texts.endSession, said }))
      void sessionsPart(panel, signal, list);
  };
  fill(
    panel,
    h("h2", {}, texts.sessions),
    simpleTable(
      texts.sessions,
      [texts.signedIn, texts.renewed, texts.endsUnused, texts.endsLatest, texts.action],
      sessions.map((one) => [
        when(one.created_at),
        ago(one.refreshed_at) || texts.never,
        when(one.expires_at),
        when(one.ends_at),
        one.is_current
          ? texts.thisSession
          : h("button", { className: "danger", onclick: () => end(one) }, texts.endSession),
      ]),
      texts.noSessions,
    ),
  );
}

/** The identities of the caller, or of the account of `list`; nothing where there is none.
 * @param {HTMLElement} panel @param {AbortSignal} signal @param {() => unknown} changed
 * @param {string} [list] */
export async function identitiesPart(panel, signal, changed, list = "me/identities") {
  const identities = /** @type {Identity[]} */ (await api.all(list, {}, signal));
  /** @param {Identity} one */
  const disconnect = async ({ uuid, issuer }) => {
    const options = {
      question: texts.disconnectQuestion(issuer),
      confirmation: texts.disconnect,
      said: texts.disconnected(issuer),
    };
    if (await removed(`${list}/${uuid}`, issuer, options)) changed();
  };
  panel.hidden = identities.length === 0;
  fill(
    panel,
    h("h2", {}, texts.provider),
    simpleTable(
      texts.provider,
      [texts.issuer, texts.subject, texts.created_, texts.action],
      identities.map((one) => [
        one.issuer,
        one.subject,
        when(one.created_at),
        h("button", { className: "danger", onclick: () => disconnect(one) }, texts.disconnect),
      ]),
      "",
    ),
  );
}

// API tokens of an account: each is shown once, when its user creates it.

const OWN = "me/tokens";

/** `list` is the path of the tokens of the caller, or of any account.
 * @param {HTMLElement} panel @param {AbortSignal} signal @param {string} [list] */
export async function tokensPart(panel, signal, list = OWN) {
  const tokens = /** @type {ApiToken[]} */ ((await api.get(list, signal)).data);
  const redraw = () => void tokensPart(panel, signal, list);
  fill(
    panel,
    h(
      "div",
      { className: "heading" },
      h("h2", {}, texts.tokens),
      list === OWN && h("button", { onclick: () => add(redraw) }, texts.newToken),
      help("how-to/api-tokens"),
    ),
    list === OWN && h("p", { className: "quiet" }, texts.tokensHint),
    simpleTable(
      texts.tokens,
      [texts.name, texts.rights, texts.expires, texts.lastUsed, texts.created_, texts.action],
      tokens.map((one) => [
        one.name,
        one.read_only ? texts.readOnly : texts.readAndWrite,
        when(one.expires_at) || texts.noEnd,
        ago(one.last_used_at) || texts.never,
        ago(one.created_at),
        h("button", { className: "danger", onclick: () => remove(list, one, redraw) }, texts.remove),
      ]),
      texts.noTokens,
    ),
  );
}

/** @param {() => void} changed */
function add(changed) {
  void show(texts.newToken, (close) => {
    const { form } = recordForm(
      TOKEN,
      { read_only: true },
      async ({ expires_at, ...values }) => {
        const end = expires_at ? { expires_at: momentOf(expires_at) } : {};
        const reply = await api.post(OWN, { ...values, ...end });
        close();
        // Also if the view was left meanwhile: the token is in no other answer.
        reveal(reply.data.token);
        return reply;
      },
      {
        button: texts.create,
        said: ({ data }) => texts.created(data.name),
        saved: changed,
      },
    );
    return form;
  });
}

/** A token that is not copied yet is left after a question only. @param {string} token */
function reveal(token) {
  const id = uniqueId("token");
  let isCopied = false;
  const copied = () => (isCopied = true);
  const field = h("input", { id, readOnly: true, value: token, oncopy: copied, onfocus: () => field.select() });
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(token);
      copied();
      notice(texts.copied);
    } catch {
      notice(texts.notCopied, "failed");
    }
  };
  void show(texts.tokenOnce, () => {
    guard(() => field.isConnected && !isCopied);
    return h(
      "div",
      { className: "record" },
      h("div", { className: "field wide" }, h("label", { htmlFor: id }, texts.token), field),
      h("div", { className: "actions" }, h("button", { className: "primary", onclick: copy }, texts.copy)),
    );
  });
}

/** @param {string} list @param {ApiToken} token @param {() => void} changed */
async function remove(list, token, changed) {
  const details = h("p", {}, texts.deleteTokenHint);
  if (await removed(`${list}/${token.uuid}`, token.name, { details })) changed();
}

// The caller's account, password, PIN, API tokens and sessions; the state of the service.

/** @type {import("../router.js").View} */
export async function accountView(place) {
  const { element, signal } = place;
  const me = (await api.get("me", signal)).data;
  const state = await readiness(signal);
  const pin = h("div");
  pinPart(pin, me, true);
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
    await accountView(place);
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

/** @param {HTMLElement} panel @param {User} user @param {boolean} [isSecond] */
export function pinPart(panel, user, isSecond = false) {
  const path = `vendor-users/${user.uuid}`;
  const name = fullName(user);
  const { form } = recordForm(PIN, {}, (values) => api.put(path, values), {
    said: () => texts.saved(texts.pinOf(name)),
    saved: () => void draw(),
    isSecond,
  });
  const removeIt = async () => {
    const question = texts.removePinQuestion(name);
    if (await removed(path, texts.pinOf(name), { question, confirmation: texts.removePin })) await draw();
  };
  const button = h("button", { type: "button", className: "danger", hidden: true, onclick: removeIt }, texts.removePin);
  form.lastElementChild?.append(button);
  const state = h("div", { "aria-live": "polite" });
  const draw = async () => {
    const { data } = await api.get(`${path}/lock`);
    const open = () => api.remove(`${path}/lock`);
    button.hidden = !data.has_pin;
    fill(state, facts([[texts.pin, data.has_pin ? texts.hasPin : texts.hasNoPin], lockFact(data, open, () => void draw())]));
  };
  fill(panel, h("section", {}, h("h2", {}, texts.pin), state, form));
  void draw().catch((error) => fill(state, errorBox(error)));
}
