/** The API of the service: requests with their deadline, the session, lists and records. */

import { texts } from "./texts.js";

/** @typedef {import("../types").MeProfile} Me */

// Requests and responses of the service: errors as objects, and the state of the connection.

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

// Who is signed in. The access token lives in memory; the refresh token in a cookie that scripts
// cannot read.

const SESSION = new URL("session", document.baseURI);
const REFRESH = new URL("session/refresh", document.baseURI);
const PROVIDER = new URL("session/oidc", document.baseURI);
// The path that the cookie is limited to: a reverse proxy may serve the console under a prefix.
const PATH = { "X-Console-Path": new URL(".", document.baseURI).pathname };

/** The browser has no cookie of a session. */
class NoSession extends Error {}

class Session extends EventTarget {
  token = "";
  /** @type {Me | null} */
  me = null;
  /** @type {Promise<void> | null} */
  #renewing = null;

  /** Whether the caller holds level 0, by the rule of the service. */
  isAdmin = false;
  /** Whether the caller has the right helpdesk. */
  get isHelpdesk() {
    return (this.me?.rights ?? []).length > 0;
  }

  /** Whether the caller may find people. */
  get seesPeople() {
    return this.isAdmin || this.isHelpdesk;
  }

  /** Whether the caller may write phones, modules and the company directory. */
  mayWriteShared = false;
  /** Whether the account is connected with the provider, null without one.
   * @type {boolean | null} */
  isConnected = null;
  /** The version of the service. */
  version = "";

  /**
   * @param {string} username
   * @param {string} password
   */
  async signIn(username, password) {
    const body = JSON.stringify({ username, password });
    const headers = { ...PATH, "Content-Type": "application/json" };
    await this.#take(await send(SESSION, { method: "POST", headers, body }));
  }

  /** The text of the button of the provider, empty without one. */
  async provider() {
    const { data } = await read(await send(SESSION, { cache: "no-store" }));
    return /** @type {string} */ (data.provider ?? "");
  }

  /** Go to the provider: to sign in, or to connect the account that is signed in. */
  async goToProvider() {
    if (this.token) await this.renew();
    /** @type {HeadersInit} */
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const { data } = await read(await send(PROVIDER, { method: "POST", headers }));
    location.assign(data.location);
  }

  /** Exchange the cookie for a new access token. Dispatches `ended` if the session is over; at the
   * start of the page `me` stays null without a session. */
  async renew() {
    this.#renewing ??= this.#exchange().finally(() => {
      this.#renewing = null;
    });
    await this.#renewing;
  }

  async #exchange() {
    try {
      // A refresh token is exchanged once: the tabs of a browser take turns.
      await inTurn(async () => {
        await this.#take(await send(REFRESH, { method: "POST", headers: PATH }));
      });
    } catch (error) {
      const isOver =
        error instanceof NoSession ||
        (error instanceof ApiError && [401, 403].includes(error.status));
      if (!isOver || this.me === null) throw error;
      this.token = "";
      const resumed = new Promise((resolve) => {
        this.addEventListener("begun", resolve, { once: true });
      });
      this.dispatchEvent(new Event("ended"));
      // The view stays as it is, and its request is sent after the next sign-in.
      await resumed;
    }
  }

  async signOut() {
    await read(await send(SESSION, { method: "DELETE", headers: PATH }));
    this.token = "";
    this.me = null;
    this.dispatchEvent(new Event("ended"));
  }

  /** @param {Response} response */
  async #take(response) {
    const { data } = await read(response);
    if (data === null) throw new NoSession();
    const isOther = this.me !== null && this.me.uuid !== data.me.uuid;
    this.token = data.accessToken;
    this.me = data.me;
    this.isAdmin = data.level0;
    this.mayWriteShared = data.sharedWrite;
    this.isConnected = data.isConnected;
    this.version = data.version;
    this.dispatchEvent(new CustomEvent("begun", { detail: { isOther } }));
  }
}

/**
 * Run one at a time among the tabs of this browser, where it has locks: over https and on
 * loopback.
 *
 * @param {() => Promise<void>} work
 */
async function inTurn(work) {
  if (navigator.locks) await navigator.locks.request("phoneprov-session", work);
  else await work();
}

export const session = new Session();

// The JSON API, with the token of the session.

const BASE = new URL("../api/v1/", document.baseURI);
const PAGE = 1000;
/** Before this key begins the page of the newest rows. */
export const NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * @param {string} method
 * @param {string} path relative to /api/v1/
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [accept] of a reply that is text
 * @returns {Promise<Reply>}
 */
async function request(method, path, body, signal, accept) {
  const url = new URL(path.replace(/^\//, ""), BASE);
  for (;;) {
    try {
      return await once(method, url, body, signal, accept);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      const again = restored();
      // Only a read can be sent again without doing something twice.
      if (method !== "GET" && path !== "numbers") throw error;
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
 * @param {string} [accept]
 * @returns {Promise<Reply>}
 */
async function once(method, url, body, signal, accept) {
  /** @type {Record<string, string>} */
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (accept) headers.Accept = accept;
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
  if (!accept || !response.ok) return read(response);
  try {
    return { message: "", data: await response.text(), metadata: {} };
  } catch (error) {
    // A part of a file is none.
    throw signal?.aborted ? error : new ConnectionLost();
  }
}

/**
 * A path with its query, also after another one; values that are empty are left out.
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
  return text ? `${path}${path.includes("?") ? "&" : "?"}${text}` : path;
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
  /** A list as CSV, all rows. @param {string} path @returns {Promise<string>} */
  file: async (path) => (await request("GET", path, undefined, undefined, "text/csv")).data,
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
