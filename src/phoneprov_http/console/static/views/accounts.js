/** The accounts that records name. */

import { ApiError, api } from "../api.js";
import { session } from "../session.js";
import { texts } from "../texts.js";

/** The account of the service itself and of the command line. */
const SYSTEM = "00000000-0000-0000-0000-000000000000";

/** What the service does not offer, or the caller may not see, is left out. @param {Promise<{data: any}>} reply */
export async function optional(reply) {
  try {
    return (await reply).data;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

/** The name of the account that switched. @param {string} uuid @param {AbortSignal} signal */
export async function username(uuid, signal) {
  if (uuid === session.me?.uuid) return session.me.username;
  if (uuid === SYSTEM) return texts.system;
  if (!session.isAdmin) return texts.anotherAccount;
  return (await optional(api.get(`users/${uuid}`, signal)))?.username ?? texts.deletedAccount;
}
