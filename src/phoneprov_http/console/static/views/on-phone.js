/** What is on a phone, and whether its last change failed: first, and only what is known. */

import { h } from "../dom.js";
import { facts, meaningOf } from "../elements/facts.js";
import { ago } from "../format.js";
import { icon } from "../icons.js";
import { inWords } from "../labels.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { hasActiveOwner, username } from "./accounts.js";
import { problemOf } from "./deployment.js";

/** @typedef {import("../../types").Deployment} Deployment */

/**
 * What there is to say of the last change: null when it reached the phone and the phone came back.
 *
 * @param {{current: Deployment | null, last: Deployment | null}} deployed
 * @returns {{meaning: string, said: string, more: string} | null}
 */
export function lastChange({ current, last }) {
  if (last === null) return null;
  const still = current === null || current.uuid === last.uuid ? "" : texts.stillOnPhone;
  if (last.outcome === "running") return { meaning: "wait", said: texts.lastChangeRunning, more: "" };
  if (last.outcome === "failed") {
    return { meaning: "bad", said: texts.lastChangeFailed, more: still };
  }
  if (last.outcome !== "deployed" && (last.outcome === "unknown" || last.place === null)) {
    const isBelow = current?.uuid === last.uuid;
    const more = current === null ? "" : isBelow ? texts.oldOrNew : texts.belowOrThis;
    return { meaning: "unknown", said: texts.lastChangeUnknown, more };
  }
  if (last.confirmation === "confirmed" || last.confirmation === "pending") return null;
  const restart = last.steps.find(({ name }) => name === "restart");
  if (restart?.ok === null) return { meaning: "unknown", said: texts.restartUnknown, more: "" };
  if (restart?.ok === false) return { meaning: "bad", said: texts.noRestart, more: "" };
  const isMissing = last.confirmation === "not_confirmed";
  return isMissing ? { meaning: "bad", said: texts.notSeenAgain, more: "" } : null;
}

/** @param {{current: Deployment | null, last: Deployment | null}} deployed
 * @param {any} seen the state of the phone; null for those who may not know it
 * @param {boolean} [isSip] whether number and password are in the configuration */
export async function onPhone(deployed, seen, isSip = false) {
  const { current, last } = deployed;
  const change = lastChange(deployed);
  return [
    h("h2", {}, texts.onPhone),
    change !== null &&
      last !== null &&
      h(
        "div",
        { className: `state ${change.meaning}` },
        h("p", {}, icon(change.meaning), h("strong", {}, change.said), " ", ago(last.created_at)),
        h("p", {}, [problemOf(last), change.more].filter(Boolean).join(" ")),
        h("a", { href: `#/deployments/${last.uuid}` }, texts.seeChange),
      ),
    current === null
      ? h("p", {}, session.isAdmin ? texts.nothingDeployed : texts.notVisible)
      : await placed(current),
    seen !== null && trouble(seen),
    isSip && session.isAdmin && current !== null && !(await hasActiveOwner(current.profile_uuid)) && leaver(),
  ];
}

/** What is wrong with the phone as it is, and what to do. @param {any} seen */
function trouble({ state, states, message, next_step: next, seen_at: at }) {
  const meaning = meaningOf(state);
  if (meaning === "good" || (state === "never_seen" && states.length === 1)) return null;
  return h(
    "div",
    { className: `state ${meaning}` },
    h("p", {}, icon(meaning), h("strong", {}, states.map((/** @type {string} */ one) => texts.states[one] ?? one).join(", ")), " ", ago(at)),
    h("p", {}, inWords(message)),
    next && h("p", {}, inWords(next)),
  );
}

/** Number and password of a user who left are on the phone: what to do. */
function leaver() {
  return h(
    "div",
    { className: "state bad" },
    h("p", {}, icon("bad"), h("strong", {}, texts.leaver)),
    h("p", {}, texts.leaverNext),
  );
}

/** @param {Deployment} current */
async function placed(current) {
  const { profile_uuid, profile_name, revision, confirmation } = current;
  const name = texts.profileRevision(profile_name, revision);
  return facts([
    [texts.profile, h("a", { href: `#/profiles/${profile_uuid}` }, name)],
    [texts.since, ago(current.ended_at ?? current.created_at)],
    [texts.by, await username(current.user_uuid)],
    [texts.confirmation, texts.confirmations[confirmation]],
  ]);
}
