/** Parts of a person's page that need level 0: the permission level, the right, the linked
 * extensions. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { notice } from "../elements/notice.js";
import { choices, picker } from "../elements/picker.js";
import { recordForm } from "../elements/record-form.js";
import { simpleTable } from "../elements/simple-table.js";
import { texts } from "../texts.js";
import { ApiError } from "../transport.js";
import { fullName } from "./people.js";

/** @param {import("../../types").User} user */
export async function levelForm(user) {
  const own = `user-perms/${user.uuid}`;
  const [all, assigned] = await Promise.all([
    api.get("permissions").then(({ data }) => data),
    known(own),
  ]);
  const { form } = recordForm(
    [
      {
        name: "perm_uuid",
        label: texts.permission,
        choices: all.map((/** @type {any} */ one) => [one.uuid, `${one.name} (${one.level})`]),
        hint: texts.levelHint,
      },
    ],
    { perm_uuid: assigned?.perm_uuid ?? "" },
    ({ perm_uuid }) =>
      perm_uuid ? api.post("user-perms", { user_uuid: user.uuid, perm_uuid }) : api.remove(own),
    { said: () => texts.saved(texts.levelOf(fullName(user))) },
  );
  return h("section", {}, form);
}

/** A record, or null if it does not exist. @param {string} path */
async function known(path) {
  try {
    return (await api.get(path)).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** @param {import("../../types").User} user */
export async function rightForm(user) {
  const path = `users/${user.uuid}`;
  const right = await known(`${path}/rights`);
  const { form } = recordForm(
    [
      { name: "right", label: texts.right, choices: [["helpdesk", texts.helpdesk]] },
      { name: "locations", label: texts.rightLocations, kind: "list", hint: texts.rightHint },
    ],
    { right: right?.right ?? "", locations: right?.locations ?? [] },
    (values) => (values.right ? api.put(`${path}/rights`, values) : api.remove(`${path}/rights`)),
    { said: () => texts.saved(texts.rightOf(fullName(user))) },
  );
  return h("section", {}, form);
}

/** @param {HTMLElement} panel @param {string} uuid */
export async function extensionsPart(panel, uuid) {
  const { data } = await api.get(`user-extensions/by-user/${uuid}`);
  const redraw = () => void extensionsPart(panel, uuid);
  const unlink = async (/** @type {any} */ link) => {
    if (!(await ask(texts.unlinkQuestion(link.extension), texts.unlink))) return;
    await done(api.remove(`user-extensions/${link.uuid}`), texts.unlinked(link.extension));
  };
  const choice = picker({
    label: texts.extension,
    path: choices("extensions", "extension"),
    option: (one) => ({ value: one.uuid, text: `${one.extension} ${one.name}` }),
  });
  const link = async () => {
    if (!choice.isChosen()) return;
    const order = { user_uuid: uuid, extension_uuid: choice.value() };
    await done(api.post("user-extensions", order), texts.linked(choice.row().extension));
  };
  /** @param {Promise<unknown>} work @param {string} said */
  async function done(work, said) {
    try {
      await work;
      notice(said);
      redraw();
    } catch (error) {
      notice(messageOf(error), "failed");
    }
  }
  fill(
    panel,
    simpleTable(
      texts.extensions,
      [texts.extension, texts.name, texts.type, texts.action],
      data.map((/** @type {any} */ one) => [
        one.extension,
        one.ext_name,
        one.type,
        h("button", { onclick: () => unlink(one) }, texts.unlink),
      ]),
      texts.noLinks,
    ),
    h("div", { className: "record" }, choice.element),
    h("p", {}, h("button", { onclick: link }, texts.link)),
  );
  await choice.ready;
}
