/** The vendor flags of phones: whether a phone is offered the phone menu. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { dataList } from "../elements/data-list.js";
import { show } from "../elements/dialog.js";
import { auditLink, heading, help } from "../elements/heading.js";
import { recordForm } from "../elements/record-form.js";
import { removed } from "../elements/removal.js";
import { sortedHere } from "../elements/sorted-here.js";
import { field } from "../fields.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** @typedef {import("../../types").VendorPhone} VendorPhone */

/** @type {import("../router.js").View} */
export async function view({ element }) {
  const list = /** @type {import("../elements/data-list.js").DataList<VendorPhone>} */ (dataList());
  const changed = () => void list.reload();
  const add = () => edit(null, changed);
  element.classList.add("with-list");
  fill(
    element,
    heading(
      texts.flags,
      session.mayWriteShared && h("button", { className: "primary", onclick: add }, texts.newFlag),
      help("reference/http/vendor-phones"),
    ),
    list,
  );
  /** @type {import("../elements/data-list.js").Column<VendorPhone>[]} */
  const columns = [
    {
      title: texts.mac,
      sort: "mac",
      cell: (one) =>
        session.mayWriteShared
          ? h("button", { className: "plain link", onclick: () => edit(one, changed) }, one.mac)
          : one.mac,
    },
    { title: texts.vendorPhone, sort: "vendor", cell: (one) => (one.vendor ? texts.yes : texts.no) },
  ];
  await list.configure({
    caption: texts.flags,
    columns,
    empty: () => texts.noFlags,
    load: sortedHere(columns, async (offset, limit, signal) => {
      const { data, metadata } = await api.get(`vendor-phones?limit=${limit}&offset=${offset}`, signal);
      return { rows: data, total: metadata.total ?? data.length };
    }),
  });
}

/** @param {VendorPhone | null} flag @param {() => void} changed */
function edit(flag, changed) {
  const vendor = field("vendor", { kind: "checkbox" });
  const fields = flag ? [vendor] : [field("mac", { isRequired: true }), vendor];
  void show(flag?.mac ?? texts.newFlag, (close) => {
    const done = () => {
      close();
      changed();
    };
    const { form } = recordForm(
      fields,
      flag ?? { vendor: true },
      ({ mac, ...values }) => api.put(`vendor-phones/${encodeURIComponent(flag?.mac ?? mac)}`, values),
      { said: ({ data }) => texts.saved(data.mac), saved: done },
    );
    const remove = async () => {
      if (flag && (await removed(`vendor-phones/${encodeURIComponent(flag.mac)}`, flag.mac))) done();
    };
    if (flag) {
      form.lastElementChild?.append(
        h("button", { type: "button", className: "danger", onclick: remove }, texts.remove),
        auditLink(flag.mac) || "",
      );
    }
    return form;
  });
}
