/** The settings of a desk: its default profile and number, and whether users may log in there. */

import { api } from "../api.js";
import { h } from "../dom.js";
import { choices, picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { field } from "../fields.js";
import { guard } from "../navigation.js";
import { texts } from "../texts.js";

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
    (values) =>
      api.put(`${path}/desk`, { ...values, ...changes() }),
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
