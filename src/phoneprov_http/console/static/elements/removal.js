/** Deleting a record: a question, then what was done. */

import { api } from "../api.js";
import { here } from "../navigation.js";
import { texts } from "../texts.js";
import { ask } from "./dialog.js";
import { messageOf } from "./error-box.js";
import { notice } from "./notice.js";

/**
 * Whether the record of `path` was deleted, and its view is still shown.
 *
 * @param {string} path
 * @param {string} title
 * @param {{question?: string, confirmation?: string, details?: Node, said?: string}} [options]
 */
export async function removed(path, title, options = {}) {
  const { question = texts.deleteQuestion(title), confirmation = texts.remove, details, said = texts.deleted(title) } = options;
  const isHere = here();
  if (!(await ask(question, confirmation, { isDangerous: true, details }))) return false;
  try {
    await api.remove(path);
    notice(said);
    return isHere();
  } catch (error) {
    notice(messageOf(error), "failed");
    return false;
  }
}
