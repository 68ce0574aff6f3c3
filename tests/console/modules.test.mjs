/** Modules of the console without a browser, by the runner of Node.js. */

import assert from "node:assert/strict";
import test from "node:test";

const STATIC = new URL("../../src/phoneprov_http/console/static/", import.meta.url);

// What the modules read of a page when they are loaded.
globalThis.document = { baseURI: "http://test/console/" };
globalThis.addEventListener = () => {};

/** @param {string} name */
const load = (name) => import(new URL(name, STATIC).href);

test("csv_text_with_quotes_and_lines_is_read", async () => {
  const { recordsOf } = await load("tables.js");
  const read = recordsOf('mac,name\r\n1,"a ""quoted"", name"\r\n2,"two\nlines"\r\n"3",+44 20\r\n');
  assert.deepEqual(read, [
    { line: 1, cells: ["mac", "name"] },
    { line: 2, cells: ["1", 'a "quoted", name'] },
    { line: 3, cells: ["2", "two\nlines"] },
    { line: 5, cells: ["3", "+44 20"] },
  ]);
  assert.deepEqual(recordsOf("a;b\n1;2,5\n").at(-1).cells, ["1", "2,5"]);
});

test("encoding_of_a_file_is_sure_or_asked_for", async () => {
  const { decoded, encodingOf } = await load("views/import.js");
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
  const { highlighted } = await load("elements/code.js");
  const lines = ['<a b="c">x &amp; y</a>', "<!-- one", "two --> <d/>"];
  const pieces = highlighted(lines, 0, 3);
  assert.deepEqual(pieces.map((line) => line.map(([, text]) => text).join("")), lines);
  assert.equal(pieces[2][0][0], "comment");
  assert.deepEqual(highlighted(lines, 2, 3), [pieces[2]]);
});

test("difference_of_two_texts_shows_both_sides", async () => {
  const { linesOf } = await load("elements/code.js");
  assert.equal(linesOf("a\nb\nc", "a\nB\nc"), "@@ -1 +1 @@\n a\n-b\n+B\n c");
  assert.equal(linesOf("same", "same"), "");
  assert.match(linesOf("a", "a\nb"), /\+b/);
});

test("signed_configuration_is_known_by_its_name", async () => {
  const { isSigned, signedHint } = await load("views/shared.js");
  const signed = ["SEP001BD4123456.cnf.xml.sgn", "sep001bd4123456.cnf.xml.enc.sgn", "XMLDefault.cnf.xml.sgn"];
  const others = ["SEP001BD4123456.cnf.xml", "CTLSEP001BD4123456.tlv", "DSP69xx.0-0-0-4.zz.sgn"];
  assert.deepEqual(signed.map(isSigned), [true, true, true]);
  assert.deepEqual(others.map(isSigned), [false, false, false]);
  assert.equal(signedHint(others), "");
});

test("list_of_macs_is_split_at_any_separator_and_checked", async () => {
  const { listed } = await load("elements/forms.js");
  assert.deepEqual(listed("a, b\nc;d\te\n\n"), ["a", "b", "c", "d", "e"]);
});

test("every_field_of_a_form_has_a_label", async () => {
  const forms = Object.values(await load("fields.js")).map((one) => (typeof one === "function" && one.length < 2 ? one(true) : one));
  const fields = forms.flat().filter((one) => typeof one?.name === "string");
  assert.ok(fields.length > 50);
  assert.deepEqual(fields.filter(({ label }) => !label).map(({ name }) => name), []);
});

test("label_of_a_field_is_in_words", async () => {
  const { labelOf } = await load("texts/frame.js");
  assert.equal(labelOf("first_name"), "First name");
  assert.equal(labelOf("some_new_field"), "Some new field");
  assert.equal(labelOf("deployment_uuid"), "Deployment");
});

// Elements are plain objects here: enough for what a module makes of its data.
class Node {}
class Element extends Node {
  constructor(tag) {
    super();
    Object.assign(this, { tag, children: [], style: {}, attributes: {} });
  }
  append(...children) {
    this.children.push(...children);
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  addEventListener() {}
  get text() {
    return this.children.map((one) => (one instanceof Element ? one.text : one)).join("");
  }
}
/** All elements with a tag. */
const all = (tag, ...places) =>
  places.flatMap((one) => (one instanceof Element ? [...(one.tag === tag ? [one] : []), ...all(tag, ...one.children)] : []));
Object.assign(globalThis, {
  Node,
  Element,
  HTMLElement: Element,
  matchMedia: () => ({ matches: true, addEventListener() {} }),
  customElements: { define() {} },
});
Object.assign(globalThis.document, {
  createElement: (tag) => new Element(tag),
  createElementNS: (_, tag) => new Element(tag),
});

test("lines_of_a_chart_are_at_round_distances", async () => {
  const { barChart, distanceOf } = await load("elements/chart.js");
  assert.deepEqual([1, 4, 5, 17, 90, 4000].map(distanceOf), [1, 1, 2, 5, 50, 1000]);
  const figure = barChart({
    caption: "Days",
    series: [{ name: "Good", className: "good" }, { name: "Bad", className: "bad" }],
    rows: [{ label: "Mon", href: "#/mon", values: [3, 1] }, { label: "Tue", values: [0, 0] }],
  });
  assert.deepEqual(all("title", figure).map(({ text }) => text), ["Mon: Good 3, Bad 1", "Tue: Good 0, Bad 0"]);
  const bars = all("rect", figure).filter(({ attributes }) => attributes.class !== "column");
  assert.deepEqual(bars.map(({ attributes: { y, height } }) => [Number(y), Number(height)]), [[25, 75], [0, 25]]);
  assert.deepEqual(all("td", figure).map(({ text }) => text), ["3", "1", "0", "0"]);
});

const deployment = (more) => ({
  uuid: "1", outcome: "deployed", confirmation: "confirmed", place: "x", steps: [], message: "", restart: "ok",
  confirmation_message: null, profile_uuid: "p", revision: 1, ...more,
});

test("last_change_that_failed_or_was_not_seen_is_said_first", async () => {
  const { lastChange } = await load("views/phone.js");
  const current = deployment({});
  const said = (last) => lastChange({ current, last })?.meaning;
  assert.equal(said(current), undefined);
  assert.equal(said(deployment({ uuid: "2", outcome: "failed" })), "bad");
  assert.equal(said(deployment({ uuid: "2", outcome: "unknown" })), "unknown");
  assert.equal(said(deployment({ uuid: "2", outcome: "running" })), "wait");
  assert.equal(said(deployment({ confirmation: "not_confirmed" })), "bad");
  const restart = (ok) => deployment({ confirmation: "none", steps: [{ name: "restart", ok }] });
  assert.deepEqual([null, false, true].map((ok) => said(restart(ok))), ["unknown", "bad", undefined]);
  const failed = deployment({ uuid: "2", outcome: "failed" });
  assert.match(lastChange({ current, last: failed }).more, /still on the phone/);
  assert.equal(lastChange({ current: null, last: failed }).more, "");
  assert.equal(lastChange({ current: null, last: null }), null);
});

test("problem_of_a_deployment_is_its_message_then_its_restart_then_its_watch", async () => {
  const { isOver, problemOf } = await load("views/shared.js");
  assert.equal(problemOf(deployment({})), "");
  assert.equal(problemOf(deployment({ outcome: "failed", message: "FTP failed" })), "FTP failed");
  assert.equal(problemOf(deployment({ message: "No user is logged in." })), "");
  assert.equal(problemOf(deployment({ confirmation: "none", restart: "refused" })), "refused");
  assert.equal(problemOf(deployment({ confirmation: "not_confirmed", confirmation_message: "away" })), "away");
  const over = [{}, { outcome: "running" }, { confirmation: "pending" }, { outcome: "failed", confirmation: "none" }];
  assert.deepEqual(over.map((one) => isOver(deployment(one))), [true, false, false, true]);
});

test("rollback_gives_back_the_newest_other_configuration", async () => {
  const { comesBack } = await load("views/phone-parts.js");
  const history = [
    deployment({ uuid: "5", place: null, outcome: "failed", revision: 9 }),
    deployment({ uuid: "4", revision: 2, sha256: "b" }),
    deployment({ uuid: "3", revision: 2, sha256: "b" }),
    deployment({ uuid: "2", revision: 1, sha256: "a" }),
  ];
  const { now, before } = comesBack(history);
  assert.deepEqual([now.uuid, before.uuid], ["4", "2"]);
  assert.deepEqual(comesBack([]), { now: null, before: null });
  assert.equal(comesBack(history.slice(0, 3)).before, null);
});

test("wrong_rows_of_an_import_come_first_then_changes", async () => {
  const { inOrder, reasons } = await load("views/import.js");
  // The names of columns are those that the import takes.
  const wrong = (line) => reasons({ line, problems: [{ field: "vlan", message: "is no phone_vlan" }] }).text;
  assert.deepEqual([1, 2].map(wrong), ["vlan is no phone_vlan", "Vlan is no VLAN"]);
  const rows = [["created", 2], ["unchanged", 3], ["updated", 4], ["failed", 5], ["updated", 6], ["failed", 9]];
  const sorted = inOrder(rows.map(([outcome, line]) => ({ outcome, line })));
  assert.deepEqual(sorted.map(({ line }) => line), [5, 9, 4, 6, 2, 3]);
});

test("reasons_of_a_batch_are_counted_the_most_frequent_first", async () => {
  const { reasonsOf } = await load("views/batches.js");
  const phones = ["busy", "away", "", "away", null].map((message) => ({ message }));
  const [, list] = reasonsOf(phones);
  assert.deepEqual(all("li", list).map(({ text }) => text), ["2away", "1busy"]);
  assert.deepEqual(reasonsOf([{ message: "" }]), []);
  const far = [4, 5].map((n) => ({ message: `The server 10.0.0.${n}:21 is away.` }));
  assert.deepEqual(all("li", reasonsOf(far)[1]).map(({ text }) => text), ["2The server … is away."]);
  assert.deepEqual(all("li", reasonsOf(far.slice(1))[1]).map(({ text }) => text), ["1The server 10.0.0.5:21 is away."]);
});

test("times_of_a_batch_are_those_of_the_zone_of_the_account", async () => {
  const { momentIn, tonight } = await load("views/new-batch.js");
  assert.equal(momentIn("2026-01-31T20:00", "Europe/Berlin"), "2026-01-31T19:00:00.000Z");
  assert.equal(momentIn("2026-07-31T20:00", "Europe/Berlin"), "2026-07-31T18:00:00.000Z");
  // The clocks go from 02:00 to 03:00 on 29 March, and back on 25 October.
  assert.equal(momentIn("2026-03-29T03:30", "Europe/Berlin"), "2026-03-29T01:30:00.000Z");
  assert.equal(momentIn("2026-03-29T01:30", "Europe/Berlin"), "2026-03-29T00:30:00.000Z");
  assert.equal(momentIn("2026-10-25T03:30", "Europe/Berlin"), "2026-10-25T02:30:00.000Z");
  assert.equal(momentIn("2026-10-04T03:30", "Australia/Lord_Howe"), "2026-10-03T16:30:00.000Z");
  const at = (/** @type {string} */ text) => Date.parse(text);
  assert.equal(tonight(at("2026-01-31T20:59:00Z"), "Europe/Berlin"), "2026-01-31T22:00");
  assert.equal(tonight(at("2026-01-31T21:00:00Z"), "Europe/Berlin"), "2026-02-01T22:00");
  assert.equal(tonight(at("2026-01-31T20:59:00Z"), "Asia/Tokyo"), "2026-02-01T22:00");
});

test("unified_diff_becomes_two_columns", async () => {
  const { pairs } = await load("elements/code.js");
  const lines = pairs("--- a\n+++ b\n@@ -2,2 +2,3 @@\n same\n-old\n+new\n+more\n@@ -9 +10 @@\n-gone\n");
  assert.deepEqual(lines.map(({ kind, old, new: fresh }) => [kind, old, fresh]), [
    ["same", [2, "same"], [2, "same"]],
    ["changed", [3, "old"], [3, "new"]],
    ["changed", null, [4, "more"]],
    ["gap", null, null],
    ["changed", [9, "gone"], null],
  ]);
});

test("plan_shows_groups_with_their_lines_and_phones", async () => {
  const { planned } = await load("views/batches.js");
  const groups = [{ count: 30, macs: ["00:1B:D4:00:00:01"], diff: "-<a>1</a>\n+<a>2</a>\n" }];
  const problems = [{ count: 1, macs: ["00:1B:D4:00:00:02"], message: "phone_ip is not known" }];
  const notes = [{ count: 2, macs: ["00:1B:D4:00:00:03"], message: "The login has ended." }];
  const first = [{ mac: "00:1B:D4:00:00:01", outcome: "unchanged" }];
  const shown = planned({ phones: 31, unchanged: 0, changed: 30, unfit: 1, groups, problems, notes, first });
  assert.ok(all("th", ...shown).some(({ text }) => text === "The login has ended."));
  assert.deepEqual(["del", "ins"].map((tag) => all(tag, ...shown)[0].text.trim()), ["-<a>1</a>", "+<a>2</a>"]);
  assert.match(all("section", ...shown)[0].text, /30 phones with this change.*and 29 more/s);
  assert.match(all("p", ...shown)[0].text, /^First phones: 00:1B:D4:00:00:01 \(has it already, so it proves nothing/);
  assert.equal(all("th", ...shown).at(-1).text, "IP address is not known");
});

test("rehearsal_shows_outcomes_failures_with_their_evidence_and_the_time_of_the_records", async () => {
  const { rehearsed } = await load("views/batches.js");
  const failed = "00:1B:D4:00:00:01", unknown = "00:1B:D4:00:00:02";
  const shown = rehearsed({
    as_of: "2026-03-02T08:15:00.000Z", phones: 3, seconds: 75, undone: 1,
    outcomes: { deployed: 1, failed: 1, unknown: 1, postponed: 0, left_alone: 0 },
    stopped_because: "Too many failed.",
    first_failures: [
      { mac: failed, step: "restart", message: "No answer.", evidence: "last_seen", evidence_at: "2026-03-02T08:00:00.000Z" },
    ],
    timeline: [{ seconds: 75, ended: 3, message: "The batch stops." }],
    foretold: [{ mac: unknown, outcome: "unknown", evidence: "none", evidence_at: null, message: null }],
  });
  assert.match(all("h2", ...shown)[0].text, /Rehearsal as of .*2026.*: nothing is started/);
  assert.match(all("p", ...shown)[0].text, /The batch would stop: Too many failed/);
  assert.deepEqual(all("a", ...shown).map((one) => one.text), [failed, unknown]);
  assert.match(all("td", ...shown)[1].text, /Last look, .*2026/);
  assert.equal(all("th", ...shown).at(-1).text, "1 min 15 s");
});

test("record_of_an_audit_entry_leads_to_its_page", async () => {
  const { actionOf, hrefOf, kindOf, named } = await load("views/audit.js");
  const said = async (field, value) => (await named(field, { old: null, new: value })).new;
  assert.equal(await said("outcome", "deployed"), "Deployed");
  assert.equal(await said("restart", "correct its phone_ip."), "correct its IP address.");
  assert.equal(await said("name", "phone_ip"), "phone_ip");
  const to = (resource, resource_id = "1") => hrefOf({ resource, resource_id });
  assert.deepEqual(["user", "desk", "profile", "batch", "template", "link"].map((one) => to(one)), [
    "#/people/1", "#/phones/1", "#/profiles/1", "#/batches/1", "#/templates/1", null,
  ]);
  assert.equal(to("phone", null), null);
  const actions = ["phone.switch_failed", "kem.created", "login.failed"];
  assert.deepEqual(actions.map(actionOf), ["Phone switch failed", "Key expansion module created", "Login failed"]);
  assert.equal(kindOf("phone"), "Phone");
});

test("problem_of_a_configuration_stands_at_its_line", async () => {
  const { located } = await load("views/profiles.js");
  assert.deepEqual(located({ field: "cnf_xml", message: "is wrong at line 62, column 7." }), {
    severity: "error", line: 62, column: 7, code: "", message: "is wrong at line 62, column 7.",
  });
  assert.equal(located({ field: "cnf_xml", message: "is too long" }).line, 1);
});

test("pages_of_the_documentation_become_elements", async () => {
  const { cellsOf, markdown } = await load("views/help.js");
  const { leadsTo } = await load("views/help.js");
  const page = "how-to/switch-a-floor";
  assert.equal(leadsTo(page, "asterisk.md#ami"), "#/help/how-to/asterisk?at=ami");
  assert.equal(leadsTo(page, "../reference/http/batches.md"), "#/help/reference/http/batches");
  assert.equal(leadsTo(page, "#rates"), `#/help/${page}?at=rates`);
  assert.equal(leadsTo(page, "https://example.com/x"), "https://example.com/x");
  assert.equal(leadsTo(page, "../decisions/batches.md"), null);
  assert.equal(leadsTo(page, "../../README.md"), null);
  assert.deepEqual(cellsOf("| a | `x|y` | b \\| c |"), ["a", "`x|y`", "b | c"]);
  const text = "# Title\n\nOne `code` and\n**two** [words](x.md).\n\n1. First:\n\n   ```sh\n   make <b>\n   ```\n2. Second\n   line\n\n- a\n  - b\n\n| A | B |\n|---|---|\n| 1 | [x](../decisions/y.md) |\n\n## A part, indeed\n";
  const made = markdown(text, (target) => leadsTo(page, target));
  assert.deepEqual(made.map(({ tag }) => tag), ["h1", "p", "ol", "ul", "div", "h2"]);
  assert.equal(made[1].text, "One code and two words.");
  assert.deepEqual(all("a", ...made).map(({ attributes }) => attributes.href), ["#/help/how-to/x"]);
  assert.equal(all("pre", made[2])[0].text, "make <b>");
  assert.deepEqual(all("li", made[2]).map(({ text }) => text), ["First:make <b>", "Second line"]);
  assert.deepEqual(all("li", made[3]).map(({ text }) => text), ["ab", "b"]);
  assert.deepEqual(all("td", made[4]).map(({ text }) => text), ["1", "x"]);
  assert.equal(made[5].attributes.id, "a-part-indeed");
});

test("forms_made_in_a_dialog_are_its_own", async () => {
  const { forgetGuards, guard, guarded, hasChanges } = await load("navigation.js");
  guard(() => true);
  let changed = false;
  const own = guarded(() => guard(() => changed));
  assert.deepEqual([hasChanges(), own()], [true, false]);
  changed = true;
  assert.equal(own(), true);
  forgetGuards();
  assert.equal(hasChanges(), false);
});

test("batch_with_failures_is_not_shown_as_a_success", async () => {
  const { profileOf, stateOf } = await load("views/shared.js");
  assert.equal(profileOf({ action: "restart", profile_name: null }), "");
  const shown = (state, failed, unknown = 0) => {
    const made = stateOf({ state, phones: { failed, unknown } });
    return [made.attributes.className, made.text];
  };
  assert.deepEqual(shown("done", 0), ["badge good done", "Done"]);
  assert.deepEqual(shown("done", 1), ["badge bad failed", "With failures"]);
  assert.deepEqual(shown("done", 0, 2), ["badge bad failed", "With failures"]);
  assert.deepEqual(shown("stopped", 3), ["badge bad stopped", "Stopped"]);
});

test("previews_while_typing_keep_to_the_limit_of_callers_without_level_0", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  Element.prototype.replaceChildren = function (...children) {
    this.children = children;
  };
  Element.prototype.querySelector = () => null;
  Element.prototype.value = "";
  /** The answers to come, and the previews that were asked for. */
  const [answers, asked] = [[], []];
  const settled = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  const preview = { compatible: true, objection: null, on_phone: null, profile: "P", revision: 1, diff: "", diff_note: null, needs_reset: [] };
  globalThis.fetch = async (url, { method, body } = {}) => {
    if (method !== "POST") return Response.json({ success: true, message: "", data: [] });
    asked.push(JSON.parse(body).cnf_xml);
    return answers.shift() ?? Response.json({ success: true, message: "", data: preview });
  };
  const refused = { success: false, message: "Too often.", data: null, error: { code: "too_many" } };
  answers.push(Response.json(refused, { status: 429, headers: { "Retry-After": "300" } }));
  const { session } = await load("api.js");
  const { previewPart } = await load("views/profile-parts.js");
  const leave = new AbortController();
  let typed = "one";
  const part = previewPart({ uuid: "p" }, () => ({ cnf_xml: typed }), leave.signal);
  await settled();
  const select = all("select", part.element)[0];
  Object.defineProperty(part.element, "text", { get: () => all("p", part.element).map((one) => one.textContent ?? "").join("") });
  select.value = "00:1B:D4:00:00:01";

  void part.soon();
  await settled();
  assert.deepEqual(asked, ["one"]);
  assert.match(part.element.text, /follows in 300 s/); // as the server says, and no error
  t.mock.timers.tick(299_000);
  await settled();
  assert.equal(asked.length, 1);
  t.mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(asked, ["one", "one"]);

  for (typed of ["two", "three", "four"]) {
    t.mock.timers.tick(1_000);
    part.soon();
  }
  assert.match(part.element.text, /follows in 17 s/);
  t.mock.timers.tick(17_000);
  await settled();
  assert.deepEqual(asked, ["one", "one", "four"]); // the last text, once
  session.isAdmin = true;
  await part.show();
  for (typed of ["five", "six"]) {
    part.soon();
    await settled();
  }
  assert.deepEqual(asked.slice(4), ["five", "six"]); // level 0 has no limit
  leave.abort();
});

test("times_in_a_sentence_of_the_server_are_in_the_language_of_the_page", async () => {
  const { inWords, language } = await load("texts/frame.js");
  assert.match(language, /^en/);
  const said = inWords("At must not be before 2026-11-28T20:01:27.948Z, the oldest moment that is kept");
  assert.match(said, /Nov/);
  assert.doesNotMatch(said, /T20:01/);
});

test("text_of_one_file_replaces_no_text_of_another", async () => {
  const files = ["frame", "phones", "switching", "people"];
  const all = await Promise.all(files.map(async (name) => Object.keys((await load(`texts/${name}.js`))[name])));
  const names = all.flat();
  assert.deepEqual(names.filter((name, place) => names.indexOf(name) !== place), []);
});
