/** Names of what records refer to by UUID. Each is asked for once. */

import { api, withQuery } from "../api.js";
import { session } from "../session.js";
import { texts } from "../texts.js";
import { ApiError } from "../transport.js";

/** The account of the service itself and of the command line. */
const SYSTEM = "00000000-0000-0000-0000-000000000000";

/** @type {Map<string, Promise<any>>} */
const found = new Map();

/** What the service does not offer, or the caller may not see, is left out.
 * @param {Promise<{data: any}>} reply */
export async function optional(reply) {
  try {
    return (await reply).data;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

/** A record that may be deleted. @param {string} path @returns {Promise<any>} */
function record(path) {
  if (!found.has(path)) found.set(path, optional(api.get(path)));
  return /** @type {Promise<any>} */ (found.get(path));
}

/** The name of an account. @param {string | null} uuid */
export async function username(uuid) {
  if (uuid === session.me?.uuid) return session.me.username;
  if (uuid === SYSTEM || uuid === null) return texts.system;
  if (!session.seesPeople) return texts.anotherAccount;
  return (await record(`users/${uuid}`))?.username ?? texts.deletedAccount;
}

/** The name of a profile; null if it is deleted. @param {string} uuid @returns {Promise<string | null>} */
export async function profileName(uuid) {
  return (await record(`phone-profiles/${uuid}`))?.name ?? null;
}

/** Whether the owner of a profile is active; false if the profile or the owner is deleted. For level 0.
 * @param {string} uuid of the profile */
export async function hasActiveOwner(uuid) {
  const profile = await record(`phone-profiles/${uuid}`);
  return profile !== null && (await record(`users/${profile.user_uuid}`))?.is_active === true;
}

const MOST_NAMED = 100;

/** @param {string} mac in any spelling */
const digitsOf = (mac) => mac.replace(/[:.-]/g, "").toUpperCase();

/** Those of a list that are not in the inventory. @param {string[]} macs @param {AbortSignal} signal */
export async function unknownOf(macs, signal) {
  const spelled = macs.map((mac) => digitsOf(mac).replace(/..(?!$)/g, "$&:"));
  const names = await phoneNames(spelled, signal);
  return [...new Set(spelled)].filter((mac) => !names.has(mac));
}

/** The names of phones by MAC address; one that is not in the inventory has none.
 * @param {string[]} macs @param {AbortSignal} [signal] @returns {Promise<Map<string, string>>} */
export async function phoneNames(macs, signal) {
  const all = [...new Set(macs)];
  const pages = Array.from({ length: Math.ceil(all.length / MOST_NAMED) }, (_, page) =>
    all.slice(page * MOST_NAMED, (page + 1) * MOST_NAMED).map((mac) => mac.replaceAll(":", "")).join(","),
  );
  const found = await Promise.all(
    pages.map((page) => api.get(withQuery("phones", { macs: page, limit: MOST_NAMED }), signal)),
  );
  return new Map(found.flatMap(({ data }) => data).map(({ mac, name }) => [mac, name ?? ""]));
}

/** A phone in a list of choices. @param {import("../../types").Phone} phone */
export const phoneChoice = ({ mac, name, model, location }) => ({
  value: mac,
  text: [name, mac, model, location].filter(Boolean).join(", "),
});

/** A phone as people name it. @param {{mac: string, name?: string | null}} phone */
export const phoneTitle = ({ mac, name }) => (name ? `${name} (${mac})` : mac);

/** The address of a phone; the API names `address_confirmed` only of one that is not confirmed.
 * @param {{phone_ip: string | null, address_confirmed?: boolean}} phone */
export const addressOf = ({ phone_ip: ip, address_confirmed: isConfirmed }) =>
  ip !== null && isConfirmed === false ? texts.notConfirmed(ip) : ip;
