/** API tokens of an account: each is shown once, when its user creates it. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { show } from "../elements/dialog.js";
import { help } from "../elements/heading.js";
import { notice } from "../elements/notice.js";
import { recordForm } from "../elements/record-form.js";
import { removed } from "../elements/removal.js";
import { simpleTable } from "../elements/simple-table.js";
import { TOKEN } from "../fields.js";
import { ago, when } from "../format.js";
import { guard } from "../navigation.js";
import { texts } from "../texts.js";
import { momentOf } from "./deployments.js";

/** @typedef {import("../../types").ApiToken} ApiToken */

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
