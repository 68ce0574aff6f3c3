/** Reading of CSV (RFC 4180). */

/**
 * The records of a CSV text with the line on which each begins. The separator is the one that the
 * first line uses most.
 *
 * @param {string} text
 * @returns {{line: number, cells: string[]}[]}
 */
export function recordsOf(text) {
  const [head] = text.split("\n", 1);
  const separator = [",", ";", "\t"].reduce((best, one) =>
    head.split(one).length > head.split(best).length ? one : best,
  );
  /** @type {{line: number, cells: string[]}[]} */
  const records = [];
  let [line, begun, value, isQuoted] = [1, 1, "", false];
  /** @type {string[]} */
  let cells = [];
  const end = () => {
    cells.push(value);
    if (cells.length > 1 || value !== "") records.push({ line: begun, cells });
    [cells, value] = [[], ""];
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") line += 1;
    if (isQuoted) {
      if (character !== '"') value += character;
      else if (text[at + 1] === '"') value += text[(at += 1)];
      else isQuoted = false;
    } else if (character === '"' && value === "") {
      isQuoted = true;
    } else if (character === separator) {
      cells.push(value);
      value = "";
    } else if (character === "\n") {
      end();
      begun = line;
    } else if (character !== "\r") {
      value += character;
    }
  }
  if (value !== "" || cells.length > 0) end();
  return records;
}
