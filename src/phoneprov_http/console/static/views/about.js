/** The caller's account, the state of the service and its version. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { facts } from "../elements/facts.js";
import { recordForm } from "../elements/record-form.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const me = (await api.get("me", signal)).data;
  const state = await readiness(signal);
  const { form } = recordForm(
    [{ name: "pin_code", label: texts.newPin, kind: "password", isRequired: true, hint: texts.pinHint }],
    {},
    (values) => api.put(`vendor-users/${me.uuid}`, values),
  );
  fill(
    element,
    h("h1", {}, texts.account),
    facts([
      [texts.username, me.username],
      [texts.name, `${me.first_name} ${me.last_name}`],
      [texts.email, me.email],
      [texts.permission, me.permission ? `${me.permission.perm_name} (${me.permission.level})` : texts.none],
    ]),
    h("h2", {}, texts.pin),
    form,
    h("h2", {}, texts.service),
    facts([
      [texts.state, state],
      [texts.version, session.version],
    ]),
  );
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
