"""Import of tables: checked and written as a whole."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from phoneprov_adapters.api import InMemory
from phoneprov_core.api import (
    Actor,
    Conflict,
    CreatePhone,
    CreateUser,
    Credentials,
    RowProblem,
)
from phoneprov_core.features.transfer.model import Row
from phoneprov_core.inventory.extensions import CreateExtension, Extensions
from support.table import ADA, BOB, MAC, PASSWORD, ListTable, everything, into, users


async def test_import_new_rows_create_records_after_a_dry_run(phoneprov: InMemory) -> None:
    dry = await into(phoneprov, "users", users(ADA, BOB), dry_run=True)
    assert (dry.total, dry.created, dry.written, dry.problems) == (2, 2, False, ())
    assert await everything(phoneprov, "users") == []

    done = await into(phoneprov, "users", users(ADA, BOB))

    assert (done.total, done.created, done.written, done.problems) == (2, 2, True, ())
    assert [row["username"] for row in await everything(phoneprov, "users")] == ["ada", "bob"]


async def test_imported_users_log_in_with_their_passwords(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA, (*BOB[:4], "another long one, for bob")))

    for name, password in (("ada", PASSWORD), ("bob", "another long one, for bob")):
        await phoneprov.login(Credentials(username=name, password=password), "::1")


async def test_import_again_changes_nothing(phoneprov: InMemory) -> None:
    table = ListTable("mac,name,is_active", (MAC, "Desk", "yes"))
    await into(phoneprov, "phones", table)
    phoneprov.clock.advance(60)
    before = await phoneprov.phones.get(phoneprov.system_actor(), MAC)

    done = await into(phoneprov, "phones", table)

    assert (done.created, done.updated, done.unchanged) == (0, 0, 1)
    assert await phoneprov.phones.get(phoneprov.system_actor(), MAC) == before


async def test_import_row_of_a_known_record_updates_it(phoneprov: InMemory) -> None:
    actor = phoneprov.system_actor()
    await phoneprov.phones.create(actor, CreatePhone(mac=MAC, name="Desk", location="Attic"))

    done = await into(phoneprov, "phones", ListTable("mac,name", ("001bd4123456", "Hall")))

    phone = await phoneprov.phones.get(actor, MAC)
    assert (done.created, done.updated) == (0, 1)
    assert (phone.name, phone.location) == ("Hall", "Attic")


async def test_import_empty_cell_clears_optional_fields_only(
    phoneprov: InMemory,
) -> None:
    actor = phoneprov.system_actor()
    new = CreateExtension(
        type="custom", extension="1001", name="Desk", password="pw", description="d"
    )
    await phoneprov.extensions.create(actor, new)

    table = ListTable("extension,name,password,description", ("1001", "", "", ""))
    await into(phoneprov, "extensions", table)

    [row] = await everything(phoneprov, "extensions")
    assert (row["name"], row["password"], row["description"]) == ("Desk", "pw", None)


async def test_import_every_invalid_row_is_reported_with_line_and_field(
    phoneprov: InMemory,
) -> None:
    table = ListTable(
        "mac,phone_ip,is_active",
        ("nonsense", "300.1.1.1", "maybe"),
        (MAC, "", ""),
        ("", "", ""),
    )

    done = await into(phoneprov, "phones", table)

    assert [(p.line, p.field) for p in done.problems] == [
        (2, "is_active"), (2, "mac"), (2, "phone_ip"), (4, "mac"),
    ]  # fmt: skip
    assert not done.written
    assert await everything(phoneprov, "phones") == []


async def test_import_two_rows_for_one_record_are_refused(phoneprov: InMemory) -> None:
    table = ListTable("mac,name", (MAC, "a"), ("00-1b-d4-12-34-56", "b"))

    done = await into(phoneprov, "phones", table)

    assert done.problems == (RowProblem(3, "mac", "is on line 2 already"),)


@pytest.mark.parametrize("other", ["ADA@example.com", BOB[3]])
@pytest.mark.parametrize("dry_run", [False, True])
async def test_import_value_in_use_is_found_before_any_write(
    phoneprov: InMemory, other: str, dry_run: bool
) -> None:
    await into(phoneprov, "users", users(ADA))
    eve = ("eve", "Eve", "E", other, PASSWORD)

    done = await into(phoneprov, "users", users(BOB, eve), dry_run=dry_run)

    assert done.problems == (RowProblem(3, "email", "is already in use"),)
    assert len(await everything(phoneprov, "users")) == 1


async def test_import_value_released_by_an_earlier_row_is_accepted(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA))
    moved = ("ada", "Ada", "Lovelace", "new@example.com", "")

    done = await into(phoneprov, "users", users(moved, (*BOB[:3], "ada@example.com", PASSWORD)))

    assert (done.updated, done.created, done.problems) == (1, 1, ())


async def test_import_applies_the_rules_of_the_use_case(phoneprov: InMemory) -> None:
    done = await into(phoneprov, "users", users((*ADA[:4], "short"), (*BOB[:4], "1" * 9)))

    assert [(p.line, p.field) for p in done.problems] == [(2, "password"), (3, "password")]
    assert "short" not in str(done.problems)


async def test_import_keep_going_writes_the_valid_rows(phoneprov: InMemory) -> None:
    bad = ("eve", "Eve", "E", "no address", PASSWORD)
    unreadable = RowProblem(5, "", "The row has 2 cells")
    table = ListTable("username,first_name,last_name,email,password", ADA, bad, BOB, unreadable)

    done = await into(phoneprov, "users", table, keep_going=True)

    assert (done.total, done.created, done.written) == (4, 2, True)
    assert [(p.line, p.field) for p in done.problems] == [(3, "email"), (5, "")]


async def test_import_password_is_hashed_once_outside_of_the_transaction(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasher = phoneprov.users.hasher
    asked: list[str] = []
    real = hasher.hash

    async def hash_(password: str) -> str:
        # In memory, an open transaction would make this one wait.
        async with phoneprov.database.write():
            asked.append(password)
        return await real(password)

    monkeypatch.setattr(hasher, "hash", hash_)
    await into(phoneprov, "users", users(ADA, BOB))

    assert asked == [PASSWORD, PASSWORD]


# Another writer at the same time


@pytest.mark.parametrize(("keep_going", "created"), [(False, 0), (True, 9)])
async def test_import_conflict_during_writing_undoes_everything_or_the_row(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch, keep_going: bool, created: int
) -> None:
    rows = [(str(number), "custom", "Desk", "pw") for number in range(1000, 1010)]
    table = ListTable("extension,type,name,password", *rows)
    create = Extensions.create

    async def refusing(self: Extensions, actor: Actor, new: Any) -> Any:
        if new.extension == "1007":
            raise Conflict("Another writer was faster.")
        return await create(self, actor, new)

    monkeypatch.setattr(Extensions, "create", refusing)
    done = await into(phoneprov, "extensions", table, keep_going=keep_going)

    assert done.problems == (RowProblem(9, "", "Another writer was faster."),)
    assert (done.written, done.created if keep_going else 0) == (keep_going, created)
    assert len(await everything(phoneprov, "extensions")) == created


# Columns and cells


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        ("mac,colour", "colour", "is not a column"),
        ("mac,name,name", "name", "more than once"),
        ("name", "mac", "needed"),
    ],
)
async def test_import_wrong_columns_are_reported_once(
    phoneprov: InMemory, columns: str, field: str, message: str
) -> None:
    row = tuple("x" for _ in columns.split(","))

    done = await into(phoneprov, "phones", ListTable(columns, row, row))

    [problem] = done.problems
    assert (problem.line, problem.field) == (1, field)
    assert message in problem.message


def test_import_row_representation_holds_no_cell() -> None:
    assert "hush" not in repr(Row(2, {"password": "hush"}))


async def test_import_creates_an_account_like_its_use_case(phoneprov: InMemory) -> None:
    actor = phoneprov.system_actor()
    await into(phoneprov, "users", users(ADA))
    by_hand = await phoneprov.users.create(
        actor,
        CreateUser(first_name="B", last_name="B", username="b", email="b@e.ch", password=PASSWORD),
    )
    [imported, _] = (await phoneprov.users.all(actor)).first

    assert (imported.lang, imported.timezone) == (by_hand.lang, by_hand.timezone)
    assert imported.created_by == by_hand.created_by


async def test_import_blanks_around_a_mac_are_ignored(phoneprov: InMemory) -> None:
    first = await into(
        phoneprov, "phones", ListTable("mac,phone_ip", (f" {MAC}\u00a0", "10.0.0.1 "))
    )
    again = await into(phoneprov, "phones", ListTable("mac,phone_ip", (f"{MAC} ", " 10.0.0.1")))

    assert (first.created, first.problems) == (1, ())
    assert (again.unchanged, again.problems) == (1, ())


@pytest.mark.parametrize("kind", ["SEP", "sep", "ATA", "VG"])
async def test_import_device_name_is_the_mac_in_it(phoneprov: InMemory, kind: str) -> None:
    name = kind + MAC.replace(":", "")
    first = await into(phoneprov, "phones", ListTable("mac,model", (f" {name} ", "CP-7945G")))
    again = await into(phoneprov, "phones", ListTable("mac,model", (name.lower(), "CP-7945G")))
    module = await into(
        phoneprov, "kems", ListTable("model,connected_phone", ("CP-7916", name.upper()))
    )

    assert (first.created, first.problems) == (1, ())
    assert (again.unchanged, again.problems) == (1, ())
    assert (module.created, module.problems) == (1, ())
    async with phoneprov.database.read() as tx:
        assert [one.mac for one in await tx.phones.rows(10)] == [MAC]
        assert [one.connected_phone for one in await tx.kems.rows(10)] == [MAC]


async def test_import_name_that_is_no_device_is_refused(phoneprov: InMemory) -> None:
    table = ListTable("mac", ("XYZ001BD4123456",), ("SEP001BD412345",), ("SEPSEP001BD4123456",))

    done = await into(phoneprov, "phones", table)

    assert [(one.line, one.field) for one in done.problems] == [(2, "mac"), (3, "mac"), (4, "mac")]


@pytest.mark.parametrize("number", ["1.23457E+11", "4,12E+10", "1e+5", "-2E-3"])
async def test_import_number_in_scientific_notation_is_refused(
    phoneprov: InMemory, number: str
) -> None:
    table = ListTable("name,work", ("Ada", number), ("1E+5 Ltd", "044"))

    done = await into(phoneprov, "company-directory", table)

    assert [(one.line, one.field) for one in done.problems] == [(2, "work")]
    assert "scientific notation" in done.problems[0].message


@pytest.mark.parametrize("number", ["4930123456.0", "1001,00", "-2.0"])
@pytest.mark.parametrize("kind", ["company-directory", "extensions"])
async def test_import_number_that_a_spreadsheet_made_decimal_is_refused(
    phoneprov: InMemory, number: str, kind: str
) -> None:
    table = ListTable("name,work", ("Ada", number), ("Release 1.0", "044.10"))
    if kind == "extensions":
        table = ListTable("type,name,password,extension", ("custom", "Ada", "pw", number))

    done = await into(phoneprov, kind, table)

    field = "extension" if kind == "extensions" else "work"
    assert [(one.line, one.field) for one in done.problems] == [(2, field)]
    assert "is a decimal number" in done.problems[0].message


@pytest.mark.parametrize(
    ("cell", "is_active"), [("WAHR", True), ("FALSCH", False), ("Vrai", True), ("falso", False)]
)
async def test_import_reads_true_and_false_of_spreadsheets(
    phoneprov: InMemory, cell: str, is_active: bool
) -> None:
    await into(phoneprov, "phones", ListTable("mac,is_active", (MAC, cell)))

    assert (await everything(phoneprov, "phones"))[0]["is_active"] is is_active


async def test_import_device_name_is_a_mac(phoneprov: InMemory) -> None:
    rows = [("SEP001BD4123456",), (" sep001bd4123457 ",), ("SEP00",)]
    done = await into(phoneprov, "phones", ListTable("mac", *rows), keep_going=True)
    again = await into(phoneprov, "phones", ListTable("mac,name", (MAC, "Hall")))
    kem = ("001bd4000001", "CP-7915", "SEP001bd4123456")
    await into(phoneprov, "kems", ListTable("mac,model,connected_phone", kem))

    assert (done.created, [one.line for one in done.problems]) == (2, [4])
    assert again.updated == 1
    assert (await everything(phoneprov, "kems"))[0]["connected_phone"] == MAC


async def test_import_drops_direction_marks_around_a_number(phoneprov: InMemory) -> None:
    marked = ("Ada", "\u202a+49 30 1\u202c", "\u200e030\u2069 2\u200f")
    await into(phoneprov, "company-directory", ListTable("name,work,mobile", marked))
    wrong = await into(phoneprov, "company-directory", ListTable("name", ("\u202aAda\u202c",)))

    [row] = await everything(phoneprov, "company-directory")
    assert (row["work"], row["mobile"]) == ("+49 30 1", "030 2")
    assert [one.field for one in wrong.problems] == ["name"]


async def test_import_names_the_columns_of_the_table_once(phoneprov: InMemory) -> None:
    done = await into(phoneprov, "phones", ListTable("mac,a,b,c", (MAC, "", "", "")))

    messages = [one.message for one in done.problems]
    assert [one.field for one in done.problems] == ["a", "b", "c"]
    assert messages[0].startswith("is not a column of this table; the columns are mac,")
    assert messages[1:] == ["is not a column of this table"] * 2


async def test_import_ignores_columns_in_parentheses(phoneprov: InMemory) -> None:
    table = ListTable("mac,(last outcome),(last outcome)", (MAC, "x", "y"))

    assert (await into(phoneprov, "phones", table)).created == 1


async def test_import_row_created_meanwhile_reports_the_write(phoneprov: InMemory) -> None:
    columns = "username,first_name,last_name,email,password"
    rows: dict[int, str] = {}

    class Table(ListTable):
        async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
            if self.readings == 1:  # the rows are checked and not written yet
                values: Any = dict(zip(columns.split(","), ADA, strict=True))
                new = CreateUser(**values)
                await phoneprov.users.create(phoneprov.system_actor(), new)
            async for piece in super().pieces():
                yield piece

    done = await into(
        phoneprov,
        "users",
        Table(columns, ADA),
        seen=lambda line, outcome, _: rows.update({line: outcome}),
    )

    assert (done.created, done.updated) == (0, 1)
    assert rows == {2: "updated"}
