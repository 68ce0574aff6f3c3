"""Tables on their way in: checked whole, written whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from phoneprov_adapters.api import InMemory, open_in_memory
from phoneprov_core.api import (
    Actor,
    Conflict,
    Credentials,
    Forbidden,
    NewExtension,
    NewPhone,
    NewUser,
    NotFound,
    RowProblem,
)
from phoneprov_core.extensions.use_cases import Extensions
from phoneprov_core.transfer.model import Imported, Row
from support.table import ListTable

PASSWORD = "a long one for the tests"
MAC = "00:1B:D4:12:34:56"


@pytest.fixture
async def phoneprov() -> AsyncIterator[InMemory]:
    async with open_in_memory() as opened:
        yield opened


async def into(phoneprov: InMemory, kind: str, table: ListTable, **how: Any) -> Imported:
    return await phoneprov.transfer.into(phoneprov.system_actor(), kind, table, **how)


async def everything(phoneprov: InMemory, kind: str) -> list[dict[str, Any]]:
    pieces = phoneprov.transfer.out(phoneprov.system_actor(), kind, with_secrets=True)
    return [row async for piece in pieces for row in piece]


def users(*rows: tuple[str, ...]) -> ListTable:
    return ListTable("username,first_name,last_name,email,password", *rows)


ADA = ("ada", "Ada", "Lovelace", "ada@example.com", PASSWORD)
BOB = ("bob", "Bob", "Byron", "bob@example.com", PASSWORD)


async def test_import_new_rows_create_records(phoneprov: InMemory) -> None:
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
    await phoneprov.phones.create(actor, NewPhone(mac=MAC, name="Desk", location="Attic"))

    done = await into(phoneprov, "phones", ListTable("mac,name", ("001bd4123456", "Hall")))

    phone = await phoneprov.phones.get(actor, MAC)
    assert (done.created, done.updated) == (0, 1)
    assert (phone.name, phone.location) == ("Hall", "Attic")


async def test_import_empty_cell_clears_optional_fields_only(
    phoneprov: InMemory,
) -> None:
    actor = phoneprov.system_actor()
    new = NewExtension(type="custom", extension="1001", name="Desk", password="pw", description="d")
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


async def test_import_value_in_use_is_found_before_any_write(
    phoneprov: InMemory,
) -> None:
    await into(phoneprov, "users", users(ADA))
    eve = ("eve", "Eve", "E", "ADA@example.com", PASSWORD)

    done = await into(phoneprov, "users", users(BOB, eve))

    assert done.problems == (RowProblem(3, "email", "is already in use"),)
    assert len(await everything(phoneprov, "users")) == 1


async def test_import_value_released_by_an_earlier_row_is_accepted(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA))
    moved = ("ada", "Ada", "Lovelace", "new@example.com", "")

    done = await into(phoneprov, "users", users(moved, (*BOB[:3], "ada@example.com", PASSWORD)))

    assert (done.updated, done.created, done.problems) == (1, 1, ())


async def test_import_applies_the_rules_of_the_use_case(phoneprov: InMemory) -> None:
    done = await into(phoneprov, "users", users((*ADA[:4], "short"), (*BOB[:4], "")))

    assert [(p.line, p.field) for p in done.problems] == [(2, "password"), (3, "password")]
    assert "short" not in str(done.problems)


async def test_import_dry_run_writes_nothing_and_reports_the_same(phoneprov: InMemory) -> None:
    dry = await into(phoneprov, "users", users(ADA, BOB), dry_run=True)
    assert await everything(phoneprov, "users") == []

    done = await into(phoneprov, "users", users(ADA, BOB))

    assert (dry.created, dry.written) == (done.created, False)


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
    tools = phoneprov.transfer._tools
    asked: list[str] = []
    real = tools.hasher.hash

    async def hash_(password: str) -> str:
        # In memory, a transaction that is open would keep this one waiting.
        async with phoneprov.database.write():
            asked.append(password)
        return await real(password)

    monkeypatch.setattr(tools.hasher, "hash", hash_)
    await into(phoneprov, "users", users(ADA, BOB))

    assert asked == [PASSWORD, PASSWORD]


# Another writer at the same time


async def test_import_conflict_during_writing_rolls_everything_back(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(str(number), "custom", "Desk", "pw") for number in range(1000, 1010)]
    table = ListTable("extension,type,name,password", *rows)
    refuse_number(monkeypatch, "1007")

    done = await into(phoneprov, "extensions", table)

    assert done.problems == (RowProblem(9, "", "Another writer was faster."),)
    assert not done.written
    assert await everything(phoneprov, "extensions") == []


async def test_import_keep_going_skips_rows_with_concurrent_conflicts(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(str(number), "custom", "Desk", "pw") for number in range(1000, 1010)]
    table = ListTable("extension,type,name,password", *rows)
    refuse_number(monkeypatch, "1007")

    done = await into(phoneprov, "extensions", table, keep_going=True)

    assert (done.created, done.problems) == (9, (RowProblem(9, "", "Another writer was faster."),))
    assert len(await everything(phoneprov, "extensions")) == 9


def refuse_number(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    create = Extensions.create

    async def refusing(self: Extensions, actor: Actor, new: Any) -> Any:
        if new.extension == number:
            raise Conflict("Another writer was faster.")
        return await create(self, actor, new)

    monkeypatch.setattr(Extensions, "create", refusing)


# Directories


async def test_import_contact_without_uuid_matches_by_content(phoneprov: InMemory) -> None:
    table = ListTable("name,work", ("Ada", "1"), ("Ada", "2"), ("Ada", "1"))

    first = await into(phoneprov, "company-directory", table)
    again = await into(phoneprov, "company-directory", table)

    assert (first.created, first.unchanged) == (2, 1)
    assert (again.created, again.unchanged) == (0, 3)


async def test_import_contact_with_uuid_is_updated(phoneprov: InMemory) -> None:
    await into(phoneprov, "company-directory", ListTable("name,work", ("Ada", "1")))
    [row] = await everything(phoneprov, "company-directory")

    table = ListTable("uuid,name,work", (row["uuid"].upper(), "Ada", "2"))
    done = await into(phoneprov, "company-directory", table)

    assert (done.created, done.updated) == (0, 1)
    assert [r["work"] for r in await everything(phoneprov, "company-directory")] == ["2"]


async def test_import_contact_unknown_uuid_creates_and_invalid_uuid_is_refused(
    phoneprov: InMemory,
) -> None:
    elsewhere = "12345678-1234-1234-1234-123456789abc"
    table = ListTable("uuid,name", (elsewhere, "Ada"), ("nonsense", "Bob"))

    done = await into(phoneprov, "company-directory", table, keep_going=True)

    assert (done.created, done.problems) == (
        1,
        (RowProblem(3, "uuid", "must be a UUID, or empty"),),
    )


async def test_import_personal_contacts_name_their_owner(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA, BOB))
    table = ListTable(
        "username,name,work", ("ADA", "Mum", "1"), ("bob", "Mum", "1"), ("eve", "Mum", "1")
    )

    done = await into(phoneprov, "personal-directory", table, keep_going=True)

    assert done.problems == (RowProblem(4, "username", "is the name of no user"),)
    rows = await everything(phoneprov, "personal-directory")
    assert [(row["username"], row["name"]) for row in rows] == [("ada", "Mum"), ("bob", "Mum")]


async def test_import_contact_owner_cannot_be_changed(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA, BOB))
    await into(phoneprov, "personal-directory", ListTable("username,name", ("ada", "Mum")))
    [row] = await everything(phoneprov, "personal-directory")

    table = ListTable("uuid,username,name", (row["uuid"], "bob", "Mum"))
    done = await into(phoneprov, "personal-directory", table)

    assert [(p.line, p.field) for p in done.problems] == [(2, "username")]


async def test_import_kems_match_by_uuid_then_mac_then_content(phoneprov: InMemory) -> None:
    table = ListTable("mac,model", (MAC, "CP-7916"), ("", "CP-7915"))
    await into(phoneprov, "kems", table)

    done = await into(
        phoneprov, "kems", ListTable("mac,model", (MAC.lower(), "CP-7914"), ("", "CP-7915"))
    )

    assert (done.created, done.updated, done.unchanged) == (0, 1, 1)


# Columns, kinds, rights


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


async def test_export_can_be_imported(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA))
    rows = await everything(phoneprov, "users")
    exported = ListTable(
        ",".join(rows[0]),
        *(
            tuple("" if v is None else ("true" if v is True else str(v)) for v in row.values())
            for row in rows
        ),
    )
    done = await into(phoneprov, "users", exported)

    assert (done.unchanged, done.problems) == (1, ())
    assert "password" not in rows[0]


async def test_export_contains_secrets_only_on_request(phoneprov: InMemory) -> None:
    actor = phoneprov.system_actor()
    new = NewExtension(
        type="custom", extension="1001", name="D", password="hush", voicemail_passcode="2468"
    )
    await phoneprov.extensions.create(actor, new)

    [[row]] = [piece async for piece in phoneprov.transfer.out(actor, "extensions")]

    assert not {"password", "voicemail_passcode"} & set(row)


async def test_import_and_export_require_level_0(phoneprov: InMemory) -> None:
    no_admin = Actor("00000000-0000-0000-0000-000000000001", level=None)

    with pytest.raises(Forbidden):
        await phoneprov.transfer.into(no_admin, "phones", ListTable("mac", (MAC,)))
    with pytest.raises(Forbidden):
        [row async for row in phoneprov.transfer.out(no_admin, "phones")]
    with pytest.raises(Forbidden):
        [s async for s in phoneprov.transfer.asterisk(no_admin, "chan_sccp")]


async def test_import_and_export_of_unknown_kind_are_refused(phoneprov: InMemory) -> None:
    with pytest.raises(NotFound, match="company-directory"):
        await into(phoneprov, "sessions", ListTable("uuid"))


def test_import_row_representation_holds_no_cell() -> None:
    assert "hush" not in repr(Row(2, {"password": "hush"}))


async def test_import_creates_an_account_like_its_use_case(phoneprov: InMemory) -> None:
    actor = phoneprov.system_actor()
    await into(phoneprov, "users", users(ADA))
    by_hand = await phoneprov.users.create(
        actor,
        NewUser(first_name="B", last_name="B", username="b", email="b@e.ch", password=PASSWORD),
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


@pytest.mark.parametrize("number", ["1.23457E+11", "4,12E+10", "1e+5", "-2E-3"])
async def test_import_number_in_scientific_notation_is_refused(
    phoneprov: InMemory, number: str
) -> None:
    table = ListTable("name,work", ("Ada", number), ("1E+5 Ltd", "044"))

    done = await into(phoneprov, "company-directory", table)

    assert [(one.line, one.field) for one in done.problems] == [(2, "work")]
    assert "scientific notation" in done.problems[0].message
