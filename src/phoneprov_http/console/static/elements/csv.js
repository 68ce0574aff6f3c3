/** Tables as CSV text (RFC 4180), and back. */

/** @param {string[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A text that a spreadsheet would take for a formula gets an apostrophe; telephone numbers like
 * +44 20 stay.
 * @param {string} text */
function cell(text) {
  const isFormula = /^[=@\t\r-]/.test(text) || (text.startsWith("+") && !/^\+[\d ]+$/.test(text));
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
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
