"""Export, and rules that it shares with import."""

import pytest

from phoneprov_adapters.api import InMemory
from phoneprov_core.api import (
    NotFound,
)
from phoneprov_core.extensions import CreateExtension
from support.table import ADA, ListTable, everything, into, users


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


async def test_import_and_export_of_unknown_kind_are_refused(phoneprov: InMemory) -> None:
    with pytest.raises(NotFound, match="company-directory"):
        await into(phoneprov, "sessions", ListTable("uuid"))
