/** The import of a table: a CSV file in the encoding that it has, or an Excel file. */

import { api } from "../api.js";
import { count, fill, h, uniqueId } from "../dom.js";
import { badge, errorBox, facts, heading, help, sentences, simpleTable } from "../elements/parts.js";
import { guard } from "../navigation.js";
import { recordsOf } from "../tables.js";
import { texts } from "../texts.js";
import { inWords, labelOf } from "../texts/frame.js";
import { nextSteps, turn } from "./shared.js";

/** @typedef {import("../../types").ImportedRow} ImportedRow */

// Encodings of text files. A text is decoded strictly, or not at all.

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

/** @param {ArrayBuffer} bytes */
function base64(bytes) {
  let text = "";
  for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The server reads a file with the name of Excel, or says what else it is. @param {File} file */
const isExcel = (file) => /\.xl[a-z]{1,2}$/i.test(file.name);

// Import of a table: a dry run, wrong rows first, then changes with old and new values.

/** Rows shown; a longer table is better read in its file. */
const MOST_ROWS = 500;
/** What is usually done after the import of a kind. @type {Record<string, [string, string][]>} */
const NEXT = {
  phones: [["/phones", texts.phones], ["/batches/new", texts.newBatch]],
  users: [["/people", texts.people], ["/people/join", texts.joiner]],
  pins: [["/people", texts.people]],
  extensions: [["/extensions", texts.extensions], ["/import?kind=user-extensions", texts.kinds["user-extensions"]]],
  "user-extensions": [["/extensions", texts.extensions], ["/batches/new", texts.newBatch]],
  desks: [["/desks", texts.desks], ["/batches/new", texts.newBatch]],
  kems: [["/modules", texts.modules]],
  locations: [["/locations", texts.locations]],
  "company-directory": [["/directory", texts.companyDirectory]],
  "personal-directory": [["/people", texts.people]],
  templates: [["/templates", texts.kinds.templates], ["/batches/new", texts.newBatch]],
  profiles: [["/profiles", texts.profiles], ["/batches/new", texts.newBatch]],
};
const ORDER = ["failed", "updated", "created", "unchanged"];

/** A table as a file or as text. @param {() => void} changed */
export function tableInput(changed) {
  const ids = { file: uniqueId("file"), text: uniqueId("csv"), encoding: uniqueId("encoding") };
  const file = h("input", { id: ids.file, type: "file", accept: ".csv,text/csv,.xlsx", onchange: () => void read() });
  const encoding = h(
    "select",
    { id: ids.encoding, onchange: decode },
    ...Object.entries(texts.encodings).map(([value, text]) => h("option", { value }, text)),
  );
  const problem = h("p", { className: "state wait", role: "alert", hidden: true });
  const encodingField = field(ids.encoding, texts.encoding, encoding);
  encodingField.hidden = true;
  const text = h("textarea", { id: ids.text, rows: 10, spellcheck: false, oninput: changed });
  const textField = field(ids.text, texts.csv, text, "area");
  /** @type {ArrayBuffer | null} */
  let bytes = null;
  let isSheet = false;

  /** A file that is not UTF-8 is never guessed without a word. */
  async function read() {
    const chosen = file.files?.[0];
    bytes = (await chosen?.arrayBuffer()) ?? null;
    isSheet = chosen !== undefined && isExcel(chosen);
    textField.hidden = isSheet;
    if (isSheet) {
      text.value = "";
      encodingField.hidden = problem.hidden = true;
      changed();
    }
    if (bytes === null || isSheet) return;
    const found = encodingOf(bytes);
    encoding.value = found.encoding;
    encodingField.hidden = found.isSure;
    problem.hidden = found.isSure;
    problem.textContent = texts.notUtf8;
    decode();
  }

  function decode() {
    if (bytes === null) return;
    const found = decoded(bytes, encoding.value);
    if (found === null) {
      problem.hidden = false;
      problem.textContent = texts.notDecoded;
    }
    text.value = found ?? "";
    changed();
  }

  return {
    elements: [field(ids.file, texts.file, file), problem, encodingField, textField],
    text: () => text.value,
    isEmpty: () => text.value === "" && !isSheet,
    /** What is sent. */
    table: () => (isSheet && bytes !== null ? { xlsx: base64(bytes) } : { csv: text.value }),
  };
}

/** @type {import("../router.js").View} */
export function importView({ element, query }) {
  const kindId = uniqueId("kind");
  const kind = h(
    "select",
    { id: kindId, onchange: outdated },
    ...Object.entries(texts.kinds).map(([value, text]) =>
      h("option", { value, selected: value === query.get("kind") }, text),
    ),
  );
  const input = tableInput(outdated);
  const result = h("div", { "aria-live": "polite" });
  const dryRun = h("button", { type: "submit", className: "primary" }, texts.dryRun);
  const write = h("button", { type: "button", onclick: () => send(false) }, texts.import_);
  let isSaved = true;

  function outdated() {
    turn(dryRun, write, false);
    isSaved = input.isEmpty();
    fill(result);
  }

  /** @param {boolean} isDry */
  async function send(isDry) {
    dryRun.disabled = write.disabled = true;
    fill(result, h("p", {}, texts.loading));
    try {
      const { data } = await api.post(`imports/${kind.value}`, { ...input.table(), dry_run: isDry });
      isSaved = data.written;
      fill(result, ...shown(data, isDry, input.text(), kind.value));
      turn(dryRun, write, isDry && data.failed === 0 && data.created + data.updated > 0);
    } catch (error) {
      fill(result, errorBox(error));
    } finally {
      dryRun.disabled = false;
    }
  }

  write.disabled = true;
  fill(
    element,
    heading(texts.importTitle, help("how-to/import-and-export")),
    h("p", {}, texts.importHint),
    h(
      "form",
      {
        className: "record",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void send(true);
        },
      },
      field(kindId, texts.kind, kind),
      ...input.elements,
      h("div", { className: "actions" }, dryRun, write),
    ),
    result,
  );
  guard(() => element.isConnected && !isSaved);
}

/** @param {string} id @param {string} label @param {HTMLElement} input @param {string} [kind] */
function field(id, label, input, kind = "") {
  return h("div", { className: `field ${kind}` }, h("label", { htmlFor: id }, label), input);
}

/** Wrong rows first, then changes, then new records; each in the order of the table.
 * @param {ImportedRow[]} rows */
export function inOrder(rows) {
  return rows.toSorted(
    (one, other) =>
      ORDER.indexOf(one.outcome) - ORDER.indexOf(other.outcome) || one.line - other.line,
  );
}

/** @param {import("../../types").ImportResult} data @param {boolean} isDry @param {string} csv @param {string} kind */
function shown(data, isDry, csv, kind) {
  const words = isDry ? texts.wouldBe : texts.rowOutcomes;
  const said = data.written ? texts.importWritten : isDry ? texts.importDry : texts.importRefused;
  const names = new Map(recordsOf(csv).map(({ line, cells }) => [line, cells.slice(0, 2).join(", ")]));
  const rows = inOrder(data.rows);
  return [
    h("h2", {}, said),
    data.unread_sheets.length > 0 && h("p", {}, texts.unreadSheets(data.unread_sheets)),
    !data.written && data.failed > 0 && h("p", {}, texts.importAllOrNone),
    data.written && nextSteps(...(NEXT[kind] ?? [])),
    facts([
      [texts.rows, count(data.total)],
      [words.failed, count(data.failed)],
      [words.updated, count(data.updated)],
      [words.created, count(data.created)],
      [words.unchanged, count(data.unchanged)],
    ], "across"),
    simpleTable(
      texts.rows,
      [texts.line, texts.row, texts.result, sentences(texts.whatIsWrong)],
      rows
        .slice(0, MOST_ROWS)
        .map((row) => [row.line, names.get(row.line), badge(row.outcome, words), reasons(row)]),
    ),
    rows.length > MOST_ROWS && h("p", {}, texts.moreRows(rows.length - MOST_ROWS)),
  ];
}

/** The first line has the names of the API. @param {ImportedRow} row */
export function reasons({ line, problems, notes, changes }) {
  const inForm = (/** @type {string} */ text) => (line === 1 ? text : inWords(text));
  return h(
    "ul",
    { className: "plain" },
    ...[...problems, ...(notes ?? [])].map(({ field: name, message }) =>
      h("li", {}, name && line > 1 ? `${labelOf(name)} ` : name && `${name} `, inForm(message)),
    ),
    ...Object.entries(changes ?? {}).map(([name, change]) => h("li", {}, `${labelOf(name)}: `, ...changeOf(change))),
  );
}

/** An old and a new value, or that a secret is changed. @param {any} change */
export function changeOf(change) {
  if (change === "changed") return [texts.secretChanged];
  const value = (/** @type {any} */ one) => {
    if (one === null || one === undefined || one.length === 0) return h("i", {}, texts.nothing);
    if (typeof one === "boolean") return one ? texts.yes : texts.no;
    if (Array.isArray(one)) return one.join(", ");
    return typeof one === "object" ? JSON.stringify(one) : String(one);
  };
  if (change.old === null || change.old === undefined) return [value(change.new)];
  return [h("del", {}, value(change.old)), " → ", h("ins", {}, value(change.new))];
}
