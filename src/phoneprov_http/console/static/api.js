/** The JSON API, with the token of the session. */

import { session } from "./session.js";
import { ConnectionLost, read, restored, send } from "./transport.js";

const BASE = new URL("../api/v1/", document.baseURI);
const PAGE = 1000;
/** Before this key begins the page of the newest rows. */
export const NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** @typedef {import("./transport.js").Reply} Reply */

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
  /** @type {Record<string, string>} */
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = () => {
    headers.Authorization = `Bearer ${session.token}`;
    return send(url, { method, headers, signal, body: text });
  };
  let response = await sent();
  if (response.status === 401) {
    await session.renew();
    response = await sent();
  }
  return read(response);
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
  /** The number of rows of a list. @param {string} path @param {Record<string, any>} query
   * @param {AbortSignal} [signal] @returns {Promise<number>} */
  count: async (path, query, signal) => {
    const { metadata } = await request("GET", withQuery(path, { ...query, limit: 1 }), undefined, signal);
    return metadata.total ?? 0;
  },
  /** Every row of a list. @param {string} path @param {Record<string, any>} query
   * @param {AbortSignal} [signal] @returns {Promise<any[]>} */
  all: async (path, query = {}, signal = undefined) => {
    /** @type {any[]} */
    const rows = [];
    for (;;) {
      const page = withQuery(path, { ...query, limit: PAGE, offset: rows.length });
      const { data } = await request("GET", page, undefined, signal);
      rows.push(...data);
      if (data.length < PAGE) return rows;
    }
  },
};
