/** CSV of lists that the API does not export as they are, and reading of CSV. */

import { notice } from "./elements/parts.js";
import { texts } from "./texts.js";

/** The rows of an exported list, the heading first. Columns of the list that are fields of the table
 * have the names and values of the API, the other fields follow; what only people read is named in
 * parentheses, which an import ignores.
 *
 * @template T
 * @param {import("./elements/data-list.js").Column<T>[]} columns those that are shown
 * @param {string[]} fields of the table; without, the list is no table
 * @param {T[]} rows
 * @param {(column: import("./elements/data-list.js").Column<T>, row: T) => string} textOf
 * @returns {string[][]}
 */
export function exported(columns, fields, rows, textOf) {
  if (fields.length === 0) {
    const titles = columns.map(({ title }) => title);
    return [titles, ...rows.map((row) => columns.map((column) => textOf(column, row)))];
  }
  const shown = columns.map(({ field = "" }) => field);
  const others = fields.filter((field) => !shown.includes(field));
  const head = columns.map(({ field, title }) => field ?? `(${title})`);
  return [
    [...head, ...others],
    ...rows.map((row) => [
      ...columns.map((column) => (column.field ? valueOf(row, column.field) : textOf(column, row))),
      ...others.map((field) => valueOf(row, field)),
    ]),
  ];
}

/** @param {any} row @param {string} field */
const valueOf = (row, field) => String(row[field] ?? "");

// Tables as CSV text (RFC 4180), and back.

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

/** Offer a table as a file. @param {string} caption @param {string} text */
export function download(caption, text) {
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${caption.toLowerCase().replaceAll(" ", "-")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  notice(texts.exported(recordsOf(text).length - 1));
}
