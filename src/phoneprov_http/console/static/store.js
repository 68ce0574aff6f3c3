/** Choices of the operator that this browser keeps: columns and saved filters. No records. */

const PREFIX = "phoneprov console ";

export const store = {
  /** @template T @param {string} key @param {T} otherwise @returns {T} */
  read(key, otherwise) {
    try {
      const text = localStorage.getItem(PREFIX + key);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise; // the browser keeps nothing, or something else wrote it
    }
  },
  /** @param {string} key @param {unknown} value */
  write(key, value) {
    try {
      localStorage.setItem(PREFIX + key, JSON.stringify(value));
    } catch {
      // The choice holds until the page is closed.
    }
  },
};
