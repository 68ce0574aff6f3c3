"""Export, and rules that it shares with import."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from phoneprov_adapters.api import InMemory
from phoneprov_adapters.files.csv import CsvTable, CsvWriter
from phoneprov_adapters.files.vcard import VcardTable, VcardWriter
from phoneprov_core.api import Invalid, NotFound
from phoneprov_core.features.transfer.sheets import COMPANY_DIRECTORY, spoiled
from phoneprov_core.inventory.extensions import CreateExtension
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.people.directory.model import CreateCompanyContact
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


TEXTS = st.text(max_size=12) | st.text(
    st.sampled_from("=+-@;\t\r\n'\"\uff1d ,1aE.0\u202a\ufeff"), max_size=12
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=st.dictionaries(st.sampled_from(["work", "department", "location"]), TEXTS),
    name=TEXTS,
)
@pytest.mark.parametrize("is_vcard", [False, True])
async def test_export_of_any_contact_changes_nothing_when_it_is_imported(
    phoneprov: InMemory, tmp_path: Path, fields: dict[str, str], name: str, is_vcard: bool
) -> None:
    actor = phoneprov.system_actor()
    try:
        new = command_of(CreateCompanyContact, {"name": f"x{name}", **fields})
    except Invalid:
        return
    assume(not spoiled(fields))
    # Blanks around a value of a vCard are those of the program that wrote it.
    assume(not is_vcard or all(one == one.strip() for one in (name, *fields.values())))
    contact = await phoneprov.company_directory.create(actor, new)
    path = tmp_path / "file"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = VcardWriter(file) if is_vcard else CsvWriter(file, COMPANY_DIRECTORY.columns)
        async for piece in phoneprov.transfer.out(actor, "company-directory"):
            writer.write(piece)
    table: Any = VcardTable(path, COMPANY_DIRECTORY.columns) if is_vcard else CsvTable(path)

    done = await phoneprov.transfer.into(actor, "company-directory", table)

    await phoneprov.company_directory.delete(actor, contact.uuid)
    assert (done.unchanged, done.problems) == (done.total, ())


async def test_pins_are_not_exported(phoneprov: InMemory) -> None:
    with pytest.raises(NotFound, match="only their hashes"):
        await everything(phoneprov, "pins")


async def test_import_and_export_of_unknown_kind_are_refused(phoneprov: InMemory) -> None:
    with pytest.raises(NotFound, match="company-directory"):
        await into(phoneprov, "sessions", ListTable("uuid"))
