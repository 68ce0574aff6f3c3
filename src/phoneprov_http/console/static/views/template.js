/** One variant of a template: its fields, and its text with the findings of the server. */

import { api, withQuery } from "../api.js";
import { fill, h } from "../dom.js";
import { codeEditor } from "../elements/code-editor.js";
import { ask } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { heading } from "../elements/heading.js";
import { notice } from "../elements/notice.js";
import { recordForm } from "../elements/record-form.js";
import { TEMPLATE } from "../fields.js";
import { forgetGuards, go, guard } from "../navigation.js";
import { texts } from "../texts.js";
import { ApiError } from "../transport.js";
import { conflictBox } from "./profile-parts.js";
import { variantTitle } from "./templates.js";

const CHECK_MS = 600;
const EMPTY = "<device>\n  <name>{{ phone.name }}</name>\n</device>\n";

/** @typedef {import("../../types").Template} Template */

/** @type {import("../router.js").View} */
export async function view({ element, parameters: [uuid], query, signal }) {
  const isNew = uuid === "new";
  const list = "configuration-templates";
  const path = `${list}/${encodeURIComponent(uuid)}`;
  /** @param {string} of */
  const stored = async (of) => /** @type {Template} */ ((await api.get(of, signal)).data);
  const from = query.get("from");
  const template = isNew
    ? from
      ? { ...(await stored(`${list}/${from}`)), model: "", software_type: null }
      : /** @type {any} */ ({ name: "", body: EMPTY })
    : await stored(path);
  let saved = isNew && from ? "" : template.body;
  let { revision } = template;
  const conflict = h("div", { "aria-live": "polite" });

  /** @type {number | undefined} */
  let timer;
  const editor = codeEditor({
    label: texts.templateText,
    value: template.body,
    changed: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void check(), CHECK_MS);
    },
  });

  async function check() {
    const body = editor.value();
    try {
      const { data } = await api.post(`${list}/check`, { body }, signal);
      if (body === editor.value()) editor.show(data.findings);
    } catch (error) {
      if (!signal.aborted) notice(messageOf(error), "failed");
    }
  }

  const { form } = recordForm(TEMPLATE, template, save, {
    changesOnly: !isNew,
    button: isNew ? texts.create : texts.save,
    said: ({ data }) => (isNew ? texts.created : texts.saved)(variantTitle(data)),
    saved: ({ data }) => {
      if (!isNew) return;
      forgetGuards();
      go(`/templates/${data.uuid}`);
    },
  });

  /** @param {Record<string, any>} fields */
  async function save(fields) {
    const body = editor.value();
    fill(conflict);
    try {
      const order = body === saved ? fields : { ...fields, body };
      const reply = isNew ? await api.post(list, { ...fields, body }) : await api.put(path, { ...order, revision });
      saved = body;
      revision = reply.data.revision;
      return reply;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "changed_meanwhile") throw error;
      const now = await stored(path);
      const overwrite = () => {
        revision = now.revision;
        form.requestSubmit();
      };
      fill(conflict, conflictBox(now.body, body, overwrite));
      return null;
    }
  }

  form.querySelector(".actions")?.before(conflict);
  guard(() => form.isConnected && editor.value() !== saved);
  const others = isNew ? [] : (await api.get(withQuery(list, { name: template.name }), signal)).data;
  element.classList.add("wide");
  fill(
    element,
    heading(
      isNew ? texts.newTemplate : variantTitle(template),
      !isNew && h("a", { className: "button", href: `#/templates/new?from=${uuid}` }, texts.newVariant),
      !isNew && h("button", { className: "danger", onclick: () => void remove(path, template) }, texts.remove),
    ),
    others.length > 1 &&
      h(
        "p",
        { className: "quiet" },
        texts.otherVariants,
        ...others
          .filter((/** @type {Template} */ one) => one.uuid !== uuid)
          .flatMap((/** @type {Template} */ one) => [" ", h("a", { href: `#/templates/${one.uuid}` }, variantTitle(one))]),
      ),
    h("div", { className: "profile" }, form, editor.element),
  );
  await check();
}

/** @param {string} path @param {Template} template */
async function remove(path, template) {
  const title = variantTitle(template);
  const details = h("p", {}, texts.deleteProfileHint);
  if (!(await ask(texts.deleteQuestion(title), texts.remove, { isDangerous: true, details }))) return;
  try {
    await api.remove(path);
    forgetGuards();
    notice(texts.deleted(title));
    go("/templates");
  } catch (error) {
    notice(messageOf(error), "failed");
  }
}
