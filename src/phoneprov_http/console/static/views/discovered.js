/** Phones that asked for their files and are not in the inventory. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { heading } from "../elements/heading.js";
import { recordDialog } from "../elements/record-dialog.js";
import { simpleTable } from "../elements/simple-table.js";
import { phoneFields } from "../fields.js";
import { ago } from "../format.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";

/** @typedef {import("../../types").DiscoveredPhone} DiscoveredPhone */

/** @type {import("../router.js").View} */
export async function view({ element, signal }) {
  const place = h("div");
  fill(element, heading(texts.discovered, h("a", { className: "button", href: "#/phones" }, texts.phones)), place);
  /** @type {DiscoveredPhone[]} */
  const rows = (await api.get("discovered-phones", signal)).data;
  fill(
    place,
    simpleTable(
      texts.discovered,
      [texts.mac, texts.model, texts.address, texts.firstSeen, texts.lastSeen, texts.files, texts.action],
      rows.map((one) => [
        one.mac,
        one.model,
        one.client_ip,
        ago(one.first_seen_at),
        ago(one.last_seen_at),
        one.names.join(", "),
        h("button", { onclick: () => add(one) }, texts.addPhone),
      ]),
      texts.noDiscovered,
    ),
  );
}

/** @param {DiscoveredPhone} found */
function add({ mac, model, client_ip }) {
  recordDialog({
    title: texts.addPhone,
    path: "phones",
    fields: phoneFields(true),
    record: null,
    initial: { mac, model, phone_ip: client_ip, is_active: true },
    name: phoneTitle,
    changed: (phone) => go(`/phones/${phone.mac}`),
  });
}
