/** Who is signed in. The access token lives in memory; the refresh token in a cookie that scripts
 * cannot read. */

import { ApiError, read, send } from "./transport.js";

const BASE = new URL("session", document.baseURI);
const REFRESH = new URL("session/refresh", document.baseURI);
const PROVIDER = new URL("session/oidc", document.baseURI);
// The path that the cookie is limited to: a reverse proxy may serve the console under a prefix.
const PATH = { "X-Console-Path": new URL(".", document.baseURI).pathname };

/** @typedef {import("../types").MeProfile} Me */

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
    await this.#take(await send(BASE, { method: "POST", headers, body }));
  }

  /** The text of the button of the provider, empty without one. */
  async provider() {
    const { data } = await read(await send(BASE, { cache: "no-store" }));
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
    await read(await send(BASE, { method: "DELETE", headers: PATH }));
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
