/** The parts of XML lines by their kind. */

/** @typedef {[string, string]} Piece a class and a text */

const TOKEN = /(<!--)|(\{\{.*?\}\}|\{[%#].*?[%#]\})|(<\/?[\w:.-]+|\/?>|<\?[\w-]*|\?>)|([\w:.-]+)(?==)|("[^"]*"|'[^']*')|(&[#\w]+;)/g;
const KINDS = ["comment", "value", "tag", "attribute", "string", "entity"];

/**
 * The lines from `first` to before `last`, in pieces. Comments may begin on an earlier line.
 *
 * @param {string[]} lines
 * @param {number} first
 * @param {number} last
 * @returns {Piece[][]}
 */
export function highlighted(lines, first, last) {
  const before = lines.slice(0, first).join("\n");
  let isComment = before.lastIndexOf("<!--") > before.lastIndexOf("-->");
  return lines.slice(first, last).map((line) => {
    /** @type {Piece[]} */
    const pieces = [];
    let at = 0;
    while (at < line.length) {
      if (isComment) {
        const end = line.indexOf("-->", at);
        const next = end < 0 ? line.length : end + 3;
        pieces.push(["comment", line.slice(at, next)]);
        isComment = end < 0;
        at = next;
        continue;
      }
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(line);
      if (!found) break;
      if (found.index > at) pieces.push(["", line.slice(at, found.index)]);
      if (found[1]) {
        isComment = true;
        at = found.index;
        continue;
      }
      pieces.push([KINDS[found.slice(1).findIndex(Boolean)], found[0]]);
      at = found.index + found[0].length;
    }
    if (at < line.length) pieces.push(["", line.slice(at)]);
    return pieces;
  });
}
