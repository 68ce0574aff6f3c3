/** Tables as CSV text (RFC 4180), and back. */

/** @param {string[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Where a spreadsheet may see the beginning of a formula; the apostrophes before it are a group. */
const BEGIN = /^('*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n])|(?<=[;\t\r\n])"*('*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
const NUMBER = /\+\d+(?: \d+)*(?![^;\t\r\n])/y;

/** A text that a spreadsheet would take for a formula gets an apostrophe, and so does each part of it
 * that one with semicolons between cells would; telephone numbers like +44 20 stay. The exports of the
 * command line follow the same rule, and imports take the apostrophes away.
 * @param {string} text */
function cell(text) {
  const safe = /^\+\d+(?: \d+)*$/.test(text)
    ? text
    : text.replace(BEGIN, (found, _, inside, at) => {
        NUMBER.lastIndex = at + found.length;
        return inside === "" && NUMBER.test(text) ? found : `${found}'`;
      });
  return `"${safe.replaceAll('"', '""')}"`;
}

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

/** Offer a text as a file. @param {string} name @param {string} text */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
