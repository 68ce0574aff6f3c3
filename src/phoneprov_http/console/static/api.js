/** The JSON API: one function for all requests, errors as objects, the connection's state. */

import { session } from "./session.js";
import { texts } from "./texts.js";

const BASE = new URL("../api/v1/", document.baseURI);
const HEALTH = new URL("../health/live", document.baseURI);
const RETRY_MS = [500, 1000, 2000, 4000];

/**
 * @typedef {{field: string, message: string}} Problem
 * @typedef {{limit: number, offset: number, total: number}} Metadata
 * @typedef {{message: string, data: any, metadata: Partial<Metadata>}} Reply
 */

/** An answer of the server that is not a success. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} code
   * @param {Problem[]} details
   */
  constructor(status, message, code = "", details = []) {
    super(message);
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
function restored() {
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
 * @param {string} method
 * @param {string} path relative to /api/v1/
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Reply>}
 */
async function request(method, path, body, signal) {
  const url = new URL(path.replace(/^\//, ""), BASE);
  for (;;) {
    try {
      return await once(method, url, body, signal);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      const again = restored();
      // Only a read can be sent again without doing something twice.
      if (method !== "GET") throw error;
      await again;
      signal?.throwIfAborted();
    }
  }
}

/**
 * @param {string} method
 * @param {URL} url
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<Reply>}
 */
async function once(method, url, body, signal) {
  let response = await send(method, url, body, signal);
  if (response.status === 401) {
    await session.renew();
    response = await send(method, url, body, signal);
  }
  return read(response);
}

/**
 * @param {string} method
 * @param {URL} url
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 */
async function send(method, url, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${session.token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(url, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
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
    throw new ApiError(response.status, envelope.message, code, details ?? []);
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

/**
 * A path with its query; values that are empty are left out.
 *
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} query
 */
export function withQuery(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

export const api = {
  /** @param {string} path @param {AbortSignal} [signal] */
  get: (path, signal) => request("GET", path, undefined, signal),
  /** @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] */
  post: (path, body, signal) => request("POST", path, body ?? {}, signal),
  /** @param {string} path @param {unknown} body */
  put: (path, body) => request("PUT", path, body),
  /** @param {string} path */
  remove: (path) => request("DELETE", path),
};
