"""People who join and leave from a table: CSV and Excel files, and wrong rows of them."""

from base64 import b64encode
from typing import Any

import pytest

from contract.joining.conftest import People, person
from support.excel import excel

BLOCK = "300-302"


@pytest.mark.parametrize("way", ["csv", "xlsx"])
async def test_people_of_a_table_join_and_leave(people: People, way: str) -> None:
    rows = [
        ["First name", "last_name", "username", "email", "number", "values.vlan", "(note)"],
        ["Grace", "Hopper", "grace", "grace@office.example", "", "7", "x"],
        ["Hedy", "Kiesler", "hedy", "hedy@office.example", "0301", "", ""],
    ]

    def sent(rows: list[list[str]]) -> dict[str, str]:
        text = "".join(f"{';'.join(row)}\n" for row in rows)
        return {"csv": text} if way == "csv" else {"xlsx": b64encode(excel(rows)).decode()}

    body = {**sent(rows), "block": BLOCK, "template": "office", "pin": False}
    foretold = await people.post("join", {**body, "dry_run": True})
    moved = await people.post("join", body)

    for one in (foretold, moved):
        assert [each["number"] for each in one["people"]] == ["300", "0301"]
        assert {each["pin"] for each in one["people"]} == {None}
    assert await people.numbers("hedy") == ["0301"]
    leavers = sent([["username", "hand_over_to"], ["grace", ""], ["hedy", "ada"]])
    left = await people.post("leave", leavers)
    assert [each["username"] for each in left["people"]] == ["grace", "hedy"]
    assert await people.numbers("ada") == ["0301"]


async def test_wrong_rows_of_a_table_are_named_with_line_and_field(people: People) -> None:
    text = (
        "first_name,last_name,username,email,number,mac\n"
        "Grace,Hopper,grace,grace@office.example,300,\n"
        "\n"
        "Hedy,Kiesler,hedy,none,1.23E+11,\n"
        "Ada,Byron,ada2,ada2@office.example,300,\n"
        "Mary,Jackson,mary,mary@office.example\n"
    )
    body = {"csv": text, "dry_run": True}
    assert await people.refused("join", body) == {
        "lines[4].number": "is a number in scientific notation: the spreadsheet lost its digits; "
        "format the column as text and enter it again",
        "lines[5].number": "is that of line 2 too",
        "lines[6]": "The row has 4 cells; there are 6 columns",
    }
    body = {"csv": "username,hand_over_to\ngrace,\nada,stranger\n", "dry_run": True}
    error = (await people.admin.post("/people/leave", body)).json()
    what = "2 problem(s) in the table, the first in line 2"
    assert error["message"] == f"Nothing was written: {what}."
    assert {one["field"] for one in error["error"]["details"]} == {
        "lines[2].username", "lines[3].hand_over_to",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("head", "problems"),
    [
        ("username,shoes", {"lines[1].shoes": "is not a column of this table; the columns are "
                            "username, hand_over_to"}),
        ("username,username", {"lines[1].username": "is there more than once"}),
        ("hand_over_to", {"lines[1].username": "is a column that is needed"}),
        ("username", {"lines[1]": "The table has no people"}),
    ],
)  # fmt: skip
async def test_table_with_wrong_columns_or_no_people_is_refused(
    people: People, head: str, problems: dict[str, str]
) -> None:
    assert await people.refused("leave", {"csv": f"{head}\n"}) == problems


async def test_table_is_read_up_to_the_first_row_too_many(people: People) -> None:
    text = "username\n" + "".join(f"person{number}\n" for number in range(10_000))
    problems = await people.refused("leave", {"csv": text})
    assert problems == {"lines[52]": "The row is one too many: an act has at most 50 people"}


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {"people": "is required, or csv or xlsx"}),
        ({"people": [person("grace")], "csv": "a"}, {"csv": "is a second table beside people"}),
        ({"people": [person("grace")], "block": BLOCK}, {"block": "is for a table only"}),
        ({"csv": "a", "block": "9-1"}, {"block": "must be 1 to 10000 numbers, the smallest first"}),
    ],
)
async def test_request_has_people_or_one_table(
    people: People, body: dict[str, Any], problems: dict[str, str]
) -> None:
    assert await people.refused("join", body, 422) == problems
