/** Encodings of text files. A text is decoded strictly, or not at all. */

/** @param {ArrayBuffer} bytes @param {string} encoding @returns {string | null} */
export function decoded(bytes, encoding) {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    // No text has these: they are what another encoding makes of other characters.
    return text.includes("\0") || text.includes("\uFFFD") ? null : text;
  } catch {
    return null;
  }
}

/** The encoding of a file: sure with a mark at its begin or as valid UTF-8, otherwise a guess that
 * the operator has to see.
 * @param {ArrayBuffer} bytes */
export function encodingOf(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", isSure: true };
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", isSure: true };
  if (decoded(bytes, "utf-8") !== null) return { encoding: "utf-8", isSure: true };
  return { encoding: "windows-1252", isSure: false };
}
