/** The settings of a desk: its default profile and number, and whether users may log in there. */

import { api, withQuery } from "../api.js";
import { h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { choices, picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { field } from "../fields.js";
import { guard } from "../navigation.js";
import { texts } from "../texts.js";

/** What an emergency call from a phone presents, by its location. Only level 0 may ask.
 * @param {string} path @param {AbortSignal} [signal]
 * @returns {Promise<{emergency_number?: string, emergency_place?: string}>} */
export async function emergencyOf(path, signal) {
  return (await api.get(withQuery(`${path}/lines`, { limit: 1 }), signal)).metadata;
}

/** Whether users may log in at a phone from now on: it is asked if an emergency call from there would present
 * the number of a user. @param {string} path @param {string} name */
async function mayOpen(path, name) {
  const { emergency_number: number } = await emergencyOf(path);
  const details = h("p", {}, texts.openHint, " ", h("a", { href: "#/locations" }, texts.locations));
  return Boolean(number) || ask(texts.openQuestion(name), texts.openDesk, { details });
}

/** @param {string} path @param {string} name @param {import("../../types").Desk} desk
 * @param {() => void} changed */
export async function deskForm(path, name, desk, changed) {
  const { default_profile_uuid: current } = desk;
  const profile = picker({
    label: texts.defaultProfile,
    none: texts.noDefault,
    isOptional: true,
    chosen: current ? `phone-profiles/${current}` : "",
    path: choices("phone-profiles"),
    option: (one) => ({ value: one.uuid, text: one.name }),
  });
  const number = picker({
    label: texts.ownNumber,
    none: texts.noOwnNumber,
    isOptional: true,
    chosen: desk.extension_uuid ? `extensions/${desk.extension_uuid}` : "",
    path: choices("extensions", "extension", { type: "chan_sccp" }),
    option: (one) => ({ value: one.uuid, text: `${one.extension} ${one.name}` }),
  });
  const { form } = recordForm(
    [field("hotdesk", { kind: "checkbox" })],
    desk,
    async (values) =>
      values.hotdesk && !(await mayOpen(path, name)) ? null : api.put(`${path}/desk`, { ...values, ...changes() }),
    {
      changesOnly: true,
      said: () => texts.deskSaved(name),
      saved: () => {
        before = chosen();
        changed();
      },
    },
  );
  form.prepend(profile.element, number.element);
  await Promise.all([profile.ready, number.ready]);
  const chosen = () => ({ default_profile_uuid: profile.value() || null, extension_uuid: number.value() || null });
  /** @type {Record<string, string | null>} */
  let before = chosen();
  // Another tab may have changed the others.
  const changes = () => Object.fromEntries(Object.entries(chosen()).filter(([name, value]) => value !== before[name]));
  guard(() => form.isConnected && Object.keys(changes()).length > 0);
  return h("section", {}, h("h2", {}, texts.deskSettings), form);
}
