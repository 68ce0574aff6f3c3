"""Import of a table over HTTP."""

from typing import Any

import pytest

from support.api import Caller, data_of, error_of

PHONES = "mac,model,location\n00:1B:D4:00:00:01,CP-7945G,Hall\n001bd4000002,CP-7945G,Annex\n"
WRONG = PHONES + "nonsense,CP-7945G,Annex\n00:1B:D4:00:00:03,7945\n"


async def send(caller: Caller, csv: str, **options: Any) -> Any:
    return await caller.post("/imports/phones", {"csv": csv, **options})


async def count(caller: Caller) -> int:
    return len(data_of(await caller.get("/phones")))


async def test_import_dry_run_reports_the_result_of_each_row(admin: Caller) -> None:
    data_of(await admin.post("/phones", {"mac": "00:1B:D4:00:00:01", "model": "CP-7945G"}), 201)

    result = data_of(await send(admin, WRONG, dry_run=True), 200, "Nothing was written")

    assert [(row["line"], row["outcome"]) for row in result["rows"]] == [
        (2, "updated"), (3, "created"), (4, "failed"), (5, "failed"),
    ]  # fmt: skip
    assert [problem["field"] for problem in result["rows"][2]["problems"]] == ["mac"]
    assert (result["total"], result["failed"], result["written"]) == (4, 2, False)
    assert await count(admin) == 1


async def test_import_row_shows_old_and_new_values_and_no_secret(admin: Caller) -> None:
    data_of(await send(admin, PHONES))
    (row, _) = data_of(await send(admin, PHONES.replace("Hall", "Hall 2"), dry_run=True))["rows"]
    assert row["changes"] == {"location": {"old": "Hall", "new": "Hall 2"}}

    lines = "type,extension,name,password,voicemail_passcode\nchan_sccp,2001,{},first secret,1357\n"
    for name, outcome, changes in (
        ("Hall", "created", {}),
        ("Hall", "unchanged", {}),
        ("Porter", "updated", {"name": {"old": "Hall", "new": "Porter"}}),
    ):
        order: dict[str, Any] = {"csv": lines.format(name), "dry_run": outcome == "updated"}
        (row,) = data_of(await admin.post("/imports/extensions", order))["rows"]
        assert (row["outcome"], row["changes"]) == (outcome, changes)
    order["csv"] = order["csv"].replace("first", "second").replace("1357", "2468")
    (row,) = data_of(await admin.post("/imports/extensions", order))["rows"]
    assert row["changes"]["password"] == row["changes"]["voicemail_passcode"] == "changed"


async def test_import_writes_all_rows_or_none(admin: Caller) -> None:
    refused = data_of(await send(admin, WRONG), 200, "Nothing was written")
    assert (refused["written"], await count(admin)) == (False, 0)

    written = data_of(await send(admin, PHONES), 200, "Table imported")
    assert (written["written"], written["created"], await count(admin)) == (True, 2, 2)

    again = data_of(await send(admin, PHONES))
    assert [row["outcome"] for row in again["rows"]] == ["unchanged", "unchanged"]


async def test_import_keep_going_skips_wrong_rows(admin: Caller) -> None:
    result = data_of(await send(admin, WRONG, keep_going=True), 200, "Table imported")

    assert (result["created"], result["failed"], await count(admin)) == (2, 2, 2)


async def test_import_stray_quotation_mark_is_an_error_of_its_line(admin: Caller) -> None:
    result = data_of(await send(admin, PHONES + 'SEP001BD4000003,"CP-7945G,Annex\n', dry_run=False))

    (row,) = [row for row in result["rows"] if row["outcome"] == "failed"]
    assert (row["line"], result["written"], await count(admin)) == (4, False, 0)
    assert "never closed" in row["problems"][0]["message"]


@pytest.mark.parametrize("csv", ["", "nonsense\n1\n", "mac,mac\n"])
async def test_import_wrong_columns_are_problems_of_line_1(admin: Caller, csv: str) -> None:
    result = data_of(await send(admin, csv))

    assert {row["line"] for row in result["rows"]} == {1}
    assert result["written"] is False


async def test_import_unknown_kind_is_404_and_invalid_fields_are_named(admin: Caller) -> None:
    error_of(await admin.post("/imports/profiles", {"csv": PHONES}), 404)
    assert list(error_of(await admin.post("/imports/phones", {"file": "x"}), 422)) == [
        "file", "csv",
    ]  # fmt: skip
