/** Phones that asked for a file and are not in the inventory; one of them replaces a phone. */

import { api } from "../api.js";
import { ago, fill, h, uniqueId } from "../dom.js";
import { choices, picker, recordForm } from "../elements/forms.js";
import { heading, help, show, simpleTable } from "../elements/parts.js";
import { field } from "../fields.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { PROFILES, phoneTitle, signedHint } from "./shared.js";

/** @typedef {import("../../types").DiscoveredPhone} DiscoveredPhone */

// Phones that asked for their files and are not in the inventory.

/** @type {import("../router.js").View} */
export async function discoveredView({ element, signal }) {
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
    ...PROFILES,
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
          go(`/phones/${data.mac}?new=1`);
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

// Another device takes the place of a phone.

/** @param {import("../../types").Phone} phone */
export async function replacePhone(phone) {
  /** @type {import("../../types").DiscoveredPhone[]} */
  const seen = (await api.get("discovered-phones?limit=200")).data;
  void show(texts.replaceTitle(phoneTitle(phone)), (close) => {
    const { form } = recordForm(
      [field("mac", { label: texts.newMac, isRequired: true, hint: texts.replaceHint }), field("phone_ip")],
      {},
      (values) => api.post(`phones/${encodeURIComponent(phone.mac)}/replace`, values),
      {
        button: texts.replace,
        said: ({ data }) => `${texts.replaced(phone.mac, phoneTitle(data))} ${data.mac_note}`,
        saved: ({ data }) => {
          close();
          go(`/phones/${data.mac}?new=1`);
        },
      },
    );
    const list = h(
      "datalist",
      { id: uniqueId("seen") },
      ...seen.map((one) => h("option", { value: one.mac }, [one.model, one.client_ip].filter(Boolean).join(", "))),
    );
    form.querySelector("input")?.setAttribute("list", list.id);
    form.append(list);
    return form;
  });
}
