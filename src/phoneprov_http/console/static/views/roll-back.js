/** Rolling a phone back: what comes back, then the steps as they happen. */

import { NEWEST, api, withQuery } from "../api.js";
import { h } from "../dom.js";
import { ask } from "../elements/dialog.js";
import { messageOf } from "../elements/error-box.js";
import { facts } from "../elements/facts.js";
import { notice } from "../elements/notice.js";
import { go } from "../navigation.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { ApiError, pause } from "../transport.js";
import { phoneTitle } from "./accounts.js";

const PAGE = 100;
const POLL_MS = 300;

/** @typedef {import("../../types").Deployment} Deployment */

/**
 * What is on the phone, and what was there before with another configuration.
 *
 * @param {Deployment[]} history newest first
 * @returns {{now: Deployment | null, before: Deployment | null}}
 */
export function comesBack(history) {
  const [now = null, ...earlier] = history.filter(({ place }) => place !== null);
  const before = earlier.find((one) => now !== null && isOther(one, now)) ?? null;
  return { now, before };
}

/** @param {Deployment} one @param {Deployment} other */
function isOther(one, other) {
  if (one.sha256 && other.sha256) return one.sha256 !== other.sha256;
  return one.profile_uuid !== other.profile_uuid || one.revision !== other.revision;
}

/** @param {HTMLButtonElement} button @param {string} path
 * @param {import("../../types").Phone} phone @param {AbortSignal} signal */
export async function rollBack(button, path, phone, signal) {
  button.disabled = true;
  try {
    await asked(path, phone, signal);
  } catch (error) {
    if (!signal.aborted) notice(messageOf(error), "failed");
  } finally {
    button.disabled = false;
  }
}

/** @param {string} path @param {import("../../types").Phone} phone @param {AbortSignal} signal */
async function asked(path, phone, signal) {
  const newest = withQuery(`${path}/deployments`, { before: NEWEST, limit: PAGE });
  const { data: history } = await api.get(newest, signal);
  const { now, before } = comesBack(history);
  if (before === null || now === null) {
    notice(texts.noRollBack, "failed");
    return;
  }
  const details = facts([
    [texts.now, texts.profileRevision(now.profile_name, now.revision)],
    [texts.then, texts.profileRevision(before.profile_name, before.revision)],
  ]);
  const question = texts.rollBackQuestion(phoneTitle(phone));
  if (!(await ask(question, texts.rollBack, { details }))) return;
  const last = history[0]?.uuid;
  try {
    await putBack(path, { deployment_uuid: before.uuid }, last, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "rights_changed" || !session.isAdmin) throw error;
    const why = h("p", {}, error.message);
    if (!(await ask(question, texts.rollBackAnyway, { isDangerous: true, details: why }))) return;
    await putBack(path, { deployment_uuid: before.uuid, force: true }, last, signal);
  }
}

/** @param {string} path @param {{deployment_uuid: string, force?: boolean}} body
 * @param {string | undefined} last the newest deployment so far @param {AbortSignal} signal */
async function putBack(path, body, last, signal) {
  /** @type {unknown} */
  let problem = null;
  let isAnswered = false;
  const running = api.post(`${path}/rollback`, body).then(
    () => (isAnswered = true),
    (error) => {
      problem = error;
      isAnswered = true;
    },
  );
  // Its record appears before its first step: the page of the deployment shows the steps.
  while (!isAnswered) {
    await Promise.race([pause(POLL_MS, signal), running]);
    const { data } = await api.get(withQuery(`${path}/deployments`, { before: NEWEST, limit: 1 }), signal);
    if (data[0] && data[0].uuid !== last) {
      go(`/deployments/${data[0].uuid}`);
      return;
    }
  }
  if (problem !== null) throw problem;
}
