/** Another device takes the place of a phone. */

import { api } from "../api.js";
import { h, uniqueId } from "../dom.js";
import { show } from "../elements/dialog.js";
import { recordForm } from "../elements/record-form.js";
import { field } from "../fields.js";
import { go } from "../navigation.js";
import { texts } from "../texts.js";
import { phoneTitle } from "./accounts.js";

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
          go(`/phones/${data.mac}`);
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
