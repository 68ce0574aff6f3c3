/** An error in words, with each field concerned by the name that the console gives it. */

import { h } from "../dom.js";
import { inWords, labelOf } from "../labels.js";
import { texts } from "../texts.js";
import { ApiError, ConnectionLost } from "../transport.js";

/** @param {unknown} error */
export function messageOf(error) {
  if (error instanceof ApiError && error.details.length > 0 && error.status === 422) {
    return texts.wrongInput;
  }
  const isKnown = error instanceof ApiError || error instanceof ConnectionLost;
  return isKnown ? inWords(error.message) : texts.unexpected(String(error));
}

/**
 * @param {unknown} error
 * @param {(field: string) => boolean} [isShown] whether a problem of this field stands beside it
 */
export function errorBox(error, isShown = () => false) {
  const details = error instanceof ApiError ? error.details : [];
  const others = details.filter(({ field }) => !isShown(field));
  return h(
    "div",
    { className: "error", role: "alert" },
    h("p", {}, messageOf(error)),
    others.length > 0 &&
      h(
        "ul",
        {},
        ...others.map(({ field, message }) =>
          h("li", {}, field ? `${labelOf(field)} ${inWords(message)}` : inWords(message)),
        ),
      ),
  );
}
