/** An error in words, with each field concerned. */

import { ApiError, ConnectionLost } from "../api.js";
import { h } from "../dom.js";
import { texts } from "../texts.js";

/** @param {unknown} error */
export function errorBox(error) {
  const message =
    error instanceof ApiError || error instanceof ConnectionLost
      ? error.message
      : texts.unexpected(String(error));
  const details = error instanceof ApiError ? error.details : [];
  return h(
    "div",
    { className: "error", role: "alert" },
    h("p", {}, message),
    details.length > 0 &&
      h("ul", {}, ...details.map(({ field, message: text }) => h("li", {}, `${field}: ${text}`))),
  );
}
