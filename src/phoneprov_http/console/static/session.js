/** Who is signed in. The access token lives in memory; the refresh token in a cookie that scripts
 * cannot read. */

import { ApiError, read } from "./api.js";

const BASE = new URL("session", document.baseURI);
const REFRESH = new URL("session/refresh", document.baseURI);

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

  /** Whether the caller holds level 0. */
  get isAdmin() {
    return this.me?.permission?.level !== undefined && this.me.permission !== null;
  }

  /**
   * @param {string} username
   * @param {string} password
   */
  async signIn(username, password) {
    await this.#take(
      await fetch(BASE, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ username, password }),
      }),
    );
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
      await navigator.locks.request("phoneprov-session", async () => {
        await this.#take(await fetch(REFRESH, { method: "POST" }));
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.token = "";
      const resumed = new Promise((resolve) => {
        this.addEventListener("begun", resolve, { once: true });
      });
      this.dispatchEvent(new Event("ended"));
      if (this.me === null) throw error;
      // The view stays as it is, and its request is sent after the next sign-in.
      await resumed;
    }
  }

  async signOut() {
    try {
      await fetch(BASE, { method: "DELETE" });
    } finally {
      this.token = "";
      this.me = null;
      this.dispatchEvent(new Event("ended"));
    }
  }

  /** @param {Response} response */
  async #take(response) {
    const { data } = await read(response);
    this.token = data.accessToken;
    const url = new URL("../api/v1/me", document.baseURI);
    const headers = { Authorization: `Bearer ${this.token}` };
    const me = (await read(await fetch(url, { headers }))).data;
    const isOther = this.me !== null && this.me.uuid !== me.uuid;
    this.me = me;
    this.dispatchEvent(new CustomEvent("begun", { detail: { isOther } }));
  }
}

export const session = new Session();
