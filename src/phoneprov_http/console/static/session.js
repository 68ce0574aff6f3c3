/** Who is signed in. The access token lives in memory; the refresh token in a cookie that scripts
 * cannot read. */

import { ApiError, ConnectionLost, read } from "./api.js";

const BASE = new URL("session", document.baseURI);
const REFRESH = new URL("session/refresh", document.baseURI);
// The path that the cookie is limited to: a reverse proxy may serve the console under a prefix.
const PATH = { "X-Console-Path": new URL(".", document.baseURI).pathname };

/**
 * @typedef {{uuid: string, username: string, first_name: string, last_name: string,
 *   permission?: {level: number, perm_name: string} | null}} Me
 */

class Session extends EventTarget {
  token = "";
  /** @type {Me | null} */
  me = null;
  /** @type {Promise<void> | null} */
  #renewing = null;

  /** Whether the caller holds level 0, by the rule of the service. */
  isAdmin = false;
  /** Whether the caller may write phones, modules and the company directory. */
  mayWriteShared = false;
  /** The version of the service. */
  version = "";

  /**
   * @param {string} username
   * @param {string} password
   */
  async signIn(username, password) {
    await this.#take(await send("POST", BASE, { username, password }));
  }

  /** Exchange the cookie for a new access token. Dispatches `ended` if there is no session. */
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
        await this.#take(await send("POST", REFRESH));
      });
    } catch (error) {
      const isOver = error instanceof ApiError && [401, 403].includes(error.status);
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
    await read(await send("DELETE", BASE));
    this.token = "";
    this.me = null;
    this.dispatchEvent(new Event("ended"));
  }

  /** @param {Response} response */
  async #take(response) {
    const { data } = await read(response);
    const isOther = this.me !== null && this.me.uuid !== data.me.uuid;
    this.token = data.accessToken;
    this.me = data.me;
    this.isAdmin = data.level0;
    this.mayWriteShared = data.sharedWrite;
    this.version = data.version;
    this.dispatchEvent(new CustomEvent("begun", { detail: { isOther } }));
  }
}

/**
 * @param {string} method
 * @param {URL} url
 * @param {object} [body]
 */
async function send(method, url, body) {
  const headers = body ? { ...PATH, "Content-Type": "application/json" } : PATH;
  try {
    return await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new ConnectionLost();
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
