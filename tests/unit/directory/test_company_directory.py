"""The company's directory, over the memory database."""

import msgspec
import pytest

from phoneprov_adapters.testing.records import identifier
from phoneprov_core.directory.model import CompanyContact, CompanyContactPatch, CreateCompanyContact
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.paging import Window
from support.office import Office

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)


async def stored(office: Office) -> list[CompanyContact]:
    async with office.database.read() as tx:
        return await tx.company_contacts.rows(100)


@pytest.fixture
async def grace(office: Office) -> CompanyContact:
    new = CreateCompanyContact(name="Grace", work="12", email="grace@example.com")
    return await office.company_directory.create(ADMIN, new)


async def test_contact_create_has_active_state_and_creation_time(
    office: Office, grace: CompanyContact
) -> None:
    assert grace == CompanyContact(
        uuid=identifier(1),
        name="Grace",
        work="12",
        mobile=None,
        home=None,
        email="grace@example.com",
        ringtone=None,
        department=None,
        company=None,
        location=None,
        building=None,
        is_active=True,
        created_at="2026-01-31T08:15:30.250Z",
    )
    assert await stored(office) == [grace]


async def test_contacts_are_readable_by_every_account(
    office: Office, grace: CompanyContact
) -> None:
    assert await office.company_directory.get(ADA, grace.uuid.upper()) == grace
    assert await (await office.company_directory.all(ADA)).everything() == [grace]


async def test_list_page_has_its_total(office: Office, grace: CompanyContact) -> None:
    office.clock.advance(1)
    mary = await office.company_directory.create(ADMIN, CreateCompanyContact(name="Mary"))

    page = await office.company_directory.all(ADA, Window(limit=1, offset=1))

    assert page.first == [mary]
    assert page.total == 2


async def test_update_keeps_other_fields(office: Office, grace: CompanyContact) -> None:
    office.clock.advance(60)

    changed = await office.company_directory.update(
        ADMIN, grace.uuid, CompanyContactPatch(home="34", email=None)
    )

    assert changed == msgspec.structs.replace(grace, home="34", email=None)
    assert await stored(office) == [changed]


async def test_contact_is_deleted(office: Office, grace: CompanyContact) -> None:
    await office.company_directory.delete(ADMIN, grace.uuid)

    assert await stored(office) == []


def test_contact_built_in_code_is_validated() -> None:
    with pytest.raises(Invalid) as invalid:
        CreateCompanyContact(name=" ", work="\n", email="grace", building="x" * 256)

    assert [problem.field for problem in invalid.value.problems] == [
        "name",
        "work",
        "email",
        "building",
    ]
