"""A list as a table is what an import reads, with any text in it."""

from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from phoneprov_adapters.api import open_in_memory
from phoneprov_core.features.transfer.texts import ImportRequest
from phoneprov_core.inventory.phones.model import CreatePhone, Phone, PhonePatch
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.people.directory.model import CompanyContact, CreateCompanyContact

_START = st.sampled_from(["", "=", "+", "-", "@", "'", "'=", ";=", '"', "\t-", "\uff1d", "+44 20"])
_TEXT = st.builds("{}{}{}".format, _START, st.text(max_size=12), _START)


def valid(kind: Any, **fields: str) -> Any:
    """The command with those of the fields that it takes."""
    given: dict[str, str] = {}
    for name, text in fields.items():
        try:
            command_of(kind, {**given, name: text})
        except Invalid:
            continue
        given[name] = text
    return given


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_TEXT, _TEXT, _TEXT), min_size=1, max_size=4))
async def test_list_as_table_is_imported_without_a_change_and_restores_what_changed(
    texts: list[tuple[str, str, str]],
) -> None:
    async with open_in_memory() as phoneprov:
        actor = phoneprov.system_actor()
        for number, (name, location, description) in enumerate(texts, 1):
            mac = f"00:1B:D4:00:00:{number:02X}"
            fields = {"name": name, "location": location, "description": description}
            taken = valid(CreatePhone, mac=mac, **fields)
            await phoneprov.phones.create(actor, command_of(CreatePhone, taken))
            contact = valid(CreateCompanyContact, name=f"n{name}", department=location)
            if "name" in contact:
                new = command_of(CreateCompanyContact, contact)
                await phoneprov.company_directory.create(actor, new)
        for kind, record, listing in (
            ("phones", Phone, await phoneprov.phones.all(actor)),
            ("company-directory", CompanyContact, await phoneprov.company_directory.all(actor)),
        ):
            before = await listing.everything()
            pieces = phoneprov.list_as_table(record, listing)
            request = ImportRequest(csv="".join([text async for text in pieces]))

            imported = await phoneprov.import_text(actor, kind, request)

            assert (imported.unchanged, imported.total) == (len(before), len(before)), imported
        phones = await (await phoneprov.phones.all(actor)).everything()
        pieces = phoneprov.list_as_table(Phone, await phoneprov.phones.all(actor))
        request = ImportRequest(csv="".join([text async for text in pieces]))
        for phone in phones:
            patch = PhonePatch(name="other", location="other", description="other")
            await phoneprov.phones.update(actor, phone.mac, patch)

        await phoneprov.import_text(actor, "phones", request)

        restored = await (await phoneprov.phones.all(actor)).everything()
        assert [(one.name, one.location, one.description) for one in restored] == [
            (one.name or None, one.location or None, one.description or None) for one in phones
        ]
