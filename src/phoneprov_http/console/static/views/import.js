/** Import of a table in CSV: a dry run shown row by row, then the import. */

import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { badge, facts } from "../elements/facts.js";
import { simpleTable } from "../elements/simple-table.js";
import { texts } from "../texts.js";

/** Rows shown; a longer table is better read in its file. */
const MOST_ROWS = 500;

/** @type {import("../router.js").View} */
export function view({ element, query }) {
  const ids = { kind: uniqueId("kind"), file: uniqueId("file"), text: uniqueId("csv") };
  const kind = h(
    "select",
    { id: ids.kind, onchange: () => outdated() },
    ...Object.entries(texts.kinds).map(([value, text]) =>
      h("option", { value, selected: value === query.get("kind") }, text),
    ),
  );
  const file = h("input", {
    id: ids.file,
    type: "file",
    accept: ".csv,text/csv",
    onchange: async () => {
      text.value = (await file.files?.[0]?.text()) ?? "";
      outdated();
    },
  });
  const text = h("textarea", { id: ids.text, rows: 8, spellcheck: false, oninput: () => outdated() });
  const result = h("div", { "aria-live": "polite" });
  const dryRun = h("button", { type: "submit", className: "primary" }, texts.dryRun);
  const write = h("button", { type: "button", onclick: () => send(false) }, texts.import_);

  function outdated() {
    write.disabled = true;
    fill(result);
  }

  /** @param {boolean} isDry */
  async function send(isDry) {
    dryRun.disabled = write.disabled = true;
    fill(result, h("p", {}, texts.loading));
    try {
      const { data } = await api.post(`imports/${kind.value}`, { csv: text.value, dry_run: isDry });
      fill(result, ...shown(data, isDry));
      write.disabled = !isDry || data.failed > 0 || data.total === 0;
    } catch (error) {
      fill(result, errorBox(error));
    } finally {
      dryRun.disabled = false;
    }
  }

  write.disabled = true;
  fill(
    element,
    h("h1", {}, texts.importTitle),
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
      field(ids.kind, texts.kind, kind),
      field(ids.file, texts.file, file),
      field(ids.text, texts.csv, text),
      h("div", { className: "actions" }, dryRun, write),
    ),
    result,
  );
}

/** @param {string} id @param {string} label @param {HTMLElement} input */
function field(id, label, input) {
  return h("div", { className: "field" }, h("label", { htmlFor: id }, label), input);
}

/** @param {any} data the result of the API @param {boolean} isDry */
function shown(data, isDry) {
  const words = isDry ? texts.wouldBe : texts.rowOutcomes;
  const said = data.written ? texts.importWritten : isDry ? texts.importDry : texts.importRefused;
  return [
    h("h2", {}, said),
    facts([
      [texts.rows, texts.rowCount(data.total)],
      [words.created, data.created],
      [words.updated, data.updated],
      [words.unchanged, data.unchanged],
      [words.failed, data.failed],
    ]),
    simpleTable(
      texts.rows,
      [texts.line, texts.result, texts.message],
      data.rows
        .slice(0, MOST_ROWS)
        .map((/** @type {any} */ row) => [
          row.line,
          badge(row.outcome, words),
          row.problems
            .map((/** @type {any} */ one) => `${one.field} ${one.message}`.trim())
            .join("; "),
        ]),
    ),
    data.rows.length > MOST_ROWS && h("p", {}, texts.moreRows(data.rows.length - MOST_ROWS)),
  ];
}
