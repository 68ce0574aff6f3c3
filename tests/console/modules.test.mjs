/** Modules of the console without a browser, by the runner of Node.js. */

import assert from "node:assert/strict";
import test from "node:test";

const STATIC = new URL("../../src/phoneprov_http/console/static/", import.meta.url);

// What the modules read of a page when they are loaded.
globalThis.document = { baseURI: "http://test/console/" };
globalThis.addEventListener = () => {};

/** @param {string} name */
const load = (name) => import(new URL(name, STATIC).href);

test("csv_text_with_quotes_and_lines_is_read_back", async () => {
  const { csvOf, recordsOf } = await load("elements/csv.js");
  const rows = [["mac", "name"], ["1", 'a "quoted", name'], ["2", "two\nlines"], ["3", "+44 20"]];
  const read = recordsOf(csvOf(rows));
  assert.deepEqual(read.map(({ cells }) => cells), rows);
  assert.deepEqual(read.map(({ line }) => line), [1, 2, 3, 5]);
  assert.deepEqual(recordsOf("a;b\n1;2,5\n").at(-1).cells, ["1", "2,5"]);
});

test("csv_formula_gets_an_apostrophe", async () => {
  const { csvOf } = await load("elements/csv.js");
  assert.equal(csvOf([["=1+1", "-x", "@y", "+44 20 7946", "plain"]]), "'=1+1,'-x,'@y,+44 20 7946,plain\r\n");
});

test("encoding_of_a_file_is_sure_or_asked_for", async () => {
  const { decoded, encodingOf } = await load("views/encodings.js");
  const bytes = (...all) => new Uint8Array(all).buffer;
  const utf8 = new TextEncoder().encode("Bröd").buffer;
  assert.deepEqual(encodingOf(utf8), { encoding: "utf-8", isSure: true });
  assert.deepEqual(encodingOf(bytes(0x42, 0x72, 0xf6, 0x64)), { encoding: "windows-1252", isSure: false });
  assert.deepEqual(encodingOf(bytes(0xff, 0xfe, 0x42, 0)), { encoding: "utf-16le", isSure: true });
  assert.equal(decoded(bytes(0x42, 0x72, 0xf6, 0x64), "utf-8"), null);
  assert.equal(decoded(bytes(0x42, 0x72, 0xf6, 0x64), "windows-1252"), "Bröd");
  assert.equal(decoded(bytes(0x42, 0x00), "windows-1252"), null);
});

test("highlighted_lines_keep_their_text_and_comments_go_on", async () => {
  const { highlighted } = await load("elements/highlight.js");
  const lines = ['<a b="c">x &amp; y</a>', "<!-- one", "two --> <d/>"];
  const pieces = highlighted(lines, 0, 3);
  assert.deepEqual(pieces.map((line) => line.map(([, text]) => text).join("")), lines);
  assert.equal(pieces[2][0][0], "comment");
  assert.deepEqual(highlighted(lines, 2, 3), [pieces[2]]);
});

test("difference_of_two_texts_shows_both_sides", async () => {
  const { linesOf } = await load("views/line-diff.js");
  assert.equal(linesOf("a\nb\nc", "a\nB\nc"), "@@ -1 +1 @@\n a\n-b\n+B\n c");
  assert.equal(linesOf("same", "same"), "");
  assert.match(linesOf("a", "a\nb"), /\+b/);
});

test("list_of_macs_is_split_at_any_separator_and_checked", async () => {
  const { listed } = await load("elements/controls.js");
  assert.deepEqual(listed("a, b\nc;d\te\n\n"), ["a", "b", "c", "d", "e"]);
});

test("label_of_a_field_is_in_words", async () => {
  const { labelOf } = await load("labels.js");
  assert.equal(labelOf("first_name"), "First name");
  assert.equal(labelOf("some_new_field"), "Some new field");
  assert.equal(labelOf("deployment_uuid"), "Deployment");
});
