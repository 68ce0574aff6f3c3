"""Export, and rules that it shares with import."""

import pytest

from phoneprov_adapters.api import InMemory
from phoneprov_core.api import (
    Actor,
    Forbidden,
    NotFound,
)
from phoneprov_core.extensions import CreateExtension
from support.table import ADA, MAC, ListTable, everything, into, users


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
    new = CreateExtension(
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
