/** Requests and responses of the service: errors as objects, and the state of the connection. */

import { texts } from "./texts.js";

const HEALTH = new URL("../health/live", document.baseURI);
const RETRY_MS = [500, 1000, 2000, 4000];

/**
 * @typedef {{field: string, message: string}} Problem
 * @typedef {{limit: number, offset: number, total: number, searched_to: string, emergency_number: string, emergency_place: string, phones: string[]}} Metadata
 * @typedef {{message: string, data: any, metadata: Partial<Metadata>}} Reply
 */

/** An answer of the server that is not a success. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} code
   * @param {Problem[]} details
   * @param {number} retryAfter seconds to wait, 0 where the server names none
   */
  constructor(status, message, code = "", details = [], retryAfter = 0) {
    super(message);
    this.retryAfter = retryAfter;
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** No answer came: for a request that changes something, its outcome is unknown. */
export class ConnectionLost extends Error {
  constructor() {
    super(texts.connectionLost);
  }
}

/** Emits `lost` and `restored`. */
export const connection = new EventTarget();
/** While the connection is lost: settled when it is restored.
 * @type {Promise<void> | null} */
let restoring = null;

/** Try until the server answers. */
export function restored() {
  restoring ??= (async () => {
    connection.dispatchEvent(new Event("lost"));
    for (let attempt = 0; ; attempt += 1) {
      await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
      try {
        if ((await fetch(HEALTH, { cache: "no-store" })).ok) break;
      } catch {
        continue;
      }
    }
    restoring = null;
    connection.dispatchEvent(new Event("restored"));
  })();
  return restoring;
}

/**
 * @param {URL} url
 * @param {RequestInit} options
 */
export async function send(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ConnectionLost();
  }
}

/**
 * Read the envelope of a response.
 *
 * @param {Response} response
 * @returns {Promise<Reply>}
 */
export async function read(response) {
  let envelope;
  try {
    envelope = await response.json();
  } catch {
    if (response.status === 502 || response.status === 504) throw new ConnectionLost();
    throw new ApiError(response.status, texts.noEnvelope(response.status));
  }
  if (!envelope.success) {
    const { code = "", details = [] } = envelope.error ?? {};
    const retryAfter = Number(response.headers.get("retry-after") ?? 0);
    throw new ApiError(response.status, envelope.message, code, details ?? [], retryAfter);
  }
  return { message: envelope.message, data: envelope.data, metadata: envelope.metadata ?? {} };
}

/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
