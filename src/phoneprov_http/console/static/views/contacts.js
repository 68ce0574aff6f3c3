/** The personal contacts of one user. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { recordDialog } from "../elements/record-dialog.js";
import { simpleTable } from "../elements/simple-table.js";
import { PERSONAL_CONTACT } from "../fields.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/**
 * @param {HTMLElement} panel
 * @param {string} userUuid
 */
export async function contactsPart(panel, userUuid) {
  const list = `personal-directory/${userUuid}`;
  const isOwn = userUuid === session.me?.uuid;
  const { data } = await api.get(isOwn ? "me/vendor-services/personal" : list);
  /** @param {import("../../types").PersonalContact | null} contact */
  const edit = (contact) =>
    recordDialog({
      title: contact ? contact.name : texts.newContact,
      path: contact ? `personal-directory/contact/${contact.uuid}` : list,
      fields: PERSONAL_CONTACT,
      record: contact,
      initial: {},
      changed: () => void contactsPart(panel, userUuid),
    });
  fill(
    panel,
    h(
      "div",
      { className: "heading" },
      h("h2", {}, texts.personalDirectory),
      h("button", { onclick: () => edit(null) }, texts.newContact),
    ),
    simpleTable(
      texts.personalDirectory,
      [texts.name, texts.work, texts.mobile, texts.home],
      data.map((/** @type {any} */ one) => [
        h("button", { className: "plain link", onclick: () => edit(one) }, one.name),
        one.work,
        one.mobile,
        one.home,
      ]),
      texts.noContacts,
    ),
  );
}
