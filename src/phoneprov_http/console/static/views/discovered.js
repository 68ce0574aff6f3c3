/** Phones that asked for their files and are not in the inventory. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { show } from "../elements/dialog.js";
import { heading, help } from "../elements/heading.js";
import { choices, picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { simpleTable } from "../elements/simple-table.js";
import { field } from "../fields.js";
import { ago } from "../format.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";
import { signedHint } from "./signed.js";

/** @typedef {import("../../types").DiscoveredPhone} DiscoveredPhone */

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const place = h("div");
  fill(element, heading(texts.discovered, help("how-to/adopt-and-replace")), place);
  /** @type {DiscoveredPhone[]} */
  const rows = (await api.get("discovered-phones", signal)).data;
  fill(
    place,
    signedHint(rows.flatMap((one) => one.names)),
    simpleTable(
      texts.discovered,
      [texts.mac, texts.model, texts.address, [texts.firstSeen, "roomy"], texts.lastSeen, texts.files, texts.action],
      rows.map((one) => [
        one.mac,
        one.model,
        addresses(one).join(", "),
        ago(one.first_seen_at),
        ago(one.last_seen_at),
        one.names.join(", "),
        h("button", { onclick: () => adopt(one) }, texts.adopt),
      ]),
      texts.noDiscovered,
    ),
  );
}

/**
 * The addresses that asked for the files of a phone, the latest first.
 * @param {DiscoveredPhone} found
 */
function addresses(found) {
  return [found.client_ip, ...(found.other_addresses ?? []).map((one) => one.client_ip)];
}

/** @param {DiscoveredPhone} found */
function adopt(found) {
  const { mac, model } = found;
  const profile = picker({
    label: texts.defaultProfile,
    isOptional: true,
    path: choices("phone-profiles"),
    option: (one) => ({ value: one.uuid, text: one.name }),
  });
  void show(texts.adoptTitle(mac), (close) => {
    const { form } = recordForm(
      [field("name"), field("location"), field("phone_ip")],
      {},
      (values) => {
        const profile_uuid = profile.value();
        const order = profile_uuid ? { ...values, profile_uuid } : values;
        return api.post(`discovered-phones/${encodeURIComponent(mac)}/adopt`, order);
      },
      {
        button: texts.adopt,
        said: ({ data }) => `${texts.adopted(phoneTitle(data))} ${data.mac_note}`,
        saved: ({ data }) => {
          close();
          go(`/phones/${data.mac}`);
        },
      },
    );
    form.prepend(
      h("p", { className: "quiet wide" }, texts.adoptHint([model, ...addresses(found)].filter(Boolean).join(", "))),
    );
    form.querySelector(".actions")?.before(profile.element);
    return form;
  });
}
