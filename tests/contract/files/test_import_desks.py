"""Export and import of desks: default profiles by their names."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.transfer.model import Imported
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from support.phone_records import a_phone, a_profile
from support.records import a_mac, a_user, an_extension, identifier
from support.stores import DATABASES
from support.table import ListTable

COLUMNS = "mac,hotdesk,default_profile_user,default_profile"
ADA, USER = identifier(31), a_user(31).username
NAME = "Front desk"


@pytest.fixture(params=sorted(DATABASES))
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Three phones, and ada with profiles, two of one name."""
    async with DATABASES[request.param](tmp_path) as opened:
        async with opened.write() as tx:
            await tx.users.add(a_user(31))
            for number, name in ((41, NAME), (42, "Twice"), (43, "Twice")):
                await tx.profiles.add(a_profile(number, ADA, name=name))
            for number in (1, 2, 3):
                await tx.phones.add(a_phone(number))
        yield opened


async def into(transfer: Transfer, *rows: tuple[str, ...], **options: Any) -> Imported:
    return await transfer.into(SYSTEM_ACTOR, "desks", ListTable(COLUMNS, *rows), **options)


async def everything(transfer: Transfer) -> list[dict[str, Any]]:
    return [row async for piece in transfer.out(SYSTEM_ACTOR, "desks") for row in piece]


async def test_desks_number_is_brought_and_cleared(transfer: Transfer, database: Database) -> None:
    async with database.write() as tx:
        for number, extension in ((51, "1010"), (52, "101"), (53, "102")):
            kind = "chan_pjsip" if extension == "102" else "chan_sccp"
            await tx.extensions.add(an_extension(number, extension=extension, type=kind))

    async def brought(number: str) -> Imported:
        table = ListTable("mac,extension", (a_mac(1), number))
        return await transfer.into(SYSTEM_ACTOR, "desks", table)

    for wrong in ("10", "102", "103"):
        assert [one.field for one in (await brought(wrong)).problems] == ["extension"]
    assert (await brought("101")).updated == 1
    assert (await brought("101")).unchanged == 1
    assert (await into(transfer, (a_mac(1), "no", USER, NAME))).updated == 1
    row = (await everything(transfer))[0]
    assert (row["hotdesk"], row["default_profile"], row["extension"]) == (False, NAME, "101")
    async with database.read() as tx:
        assert (await tx.desks.find(a_mac(1))).extension_uuid == identifier(52)
    assert (await brought("")).updated == 1
    row = (await everything(transfer))[0]
    assert (row["default_profile"], row["extension"]) == (NAME, None)


async def test_desks_export_can_be_imported(transfer: Transfer, database: Database) -> None:
    async with database.write() as tx:
        await tx.desks.put(DeskRecord(a_mac(1)).used(DeskUse(ADA), "2026-01-31T00:00:00.000Z"))

    first = await into(
        transfer,
        (a_mac(1), "", USER, NAME),
        ("001bd4000002", "no", "", ""),
        (a_mac(3), "yes", "", ""),
    )

    assert (first.problems, first.updated, first.unchanged) == ((), 2, 1)
    rows = await everything(transfer)
    assert [tuple(row.values()) for row in rows] == [
        (a_mac(1), True, USER, NAME, None, None),
        (a_mac(2), False, None, None, None, None),
        (a_mac(3), True, None, None, None, None),
    ]
    texts = [tuple("" if one is None else str(one).lower() for one in row.values()) for row in rows]
    again = await into(transfer, (a_mac(1), "true", USER, NAME), *(one[:4] for one in texts[1:]))
    assert (again.problems, again.unchanged) == ((), 3)
    async with database.read() as tx:
        desk = await tx.desks.find(a_mac(1))
    assert (desk.default_profile_uuid, desk.user_uuid) == (identifier(41), ADA)

    cleared = await into(transfer, (a_mac(1), "", "", ""))
    assert (cleared.updated, (await everything(transfer))[0]["default_profile"]) == (1, None)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ((a_mac(9), "", "", ""), "mac"),
        (("zzz", "", "", ""), "mac"),
        ((a_mac(2), "", "grace", NAME), "default_profile_user"),
        ((a_mac(2), "", "", NAME), "default_profile_user"),
        ((a_mac(2), "", USER, ""), "default_profile"),
        ((a_mac(2), "", USER, "Nowhere"), "default_profile"),
        ((a_mac(2), "", USER, "Twice"), "default_profile"),
        ((a_mac(2), "perhaps", "", ""), "hotdesk"),
        ((a_mac(1), "", "", ""), "mac"),
    ],
)
async def test_desks_wrong_row_is_named_and_nothing_is_written(
    transfer: Transfer, row: tuple[str, ...], field: str
) -> None:
    good = (a_mac(1), "no", USER, NAME)
    for dry_run in (True, False):
        done = await into(transfer, good, row, dry_run=dry_run)
        assert not done.written
        assert [(one.line, one.field) for one in done.problems] == [(3, field)]
    assert (await everything(transfer))[0]["default_profile"] is None


async def test_desks_unfit_profile_is_named(transfer: Transfer, database: Database) -> None:
    async with database.write() as tx:
        profile = a_profile(44, ADA, name="SIP", compatible_models=("8841",))
        await tx.profiles.add(profile)
        await tx.phones.add(a_phone(4, model="CP-7945G"))

    done = await into(transfer, (a_mac(4), "", USER, "SIP"))

    assert (done.written, done.problems[0].line) == (False, 2)
    assert "does not fit" in done.problems[0].message
