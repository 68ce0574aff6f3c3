/** The open sessions of an account, and its identities at providers, each with its end. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { removed } from "../elements/removal.js";
import { simpleTable } from "../elements/simple-table.js";
import { ago, moments, when } from "../format.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").OpenSession} OpenSession */
/** @typedef {import("../../types").Identity} Identity */

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
