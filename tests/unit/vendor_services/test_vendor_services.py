"""Service definitions, over the memory database."""

from typing import Any, cast

import msgspec
import pytest

from phoneprov_adapters.testing.records import identifier
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.vendor_services import (
    NewVendorService,
    VendorService,
    VendorServicePatch,
    VendorServices,
)
from support.office import Office, Settings

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
MISSING = identifier(0xDEAD)
BEGAN = "2026-01-31T08:15:30.250Z"


def services(office: Office) -> VendorServices:
    return VendorServices(
        office.database, office.settings.shared_write, office.clock, office.new_id
    )


async def stored(office: Office) -> list[VendorService]:
    async with office.database.read() as tx:
        return await tx.vendor_services.rows(100)


@pytest.fixture
async def menu(office: Office) -> VendorService:
    return await services(office).create(ADMIN, NewVendorService(name="Menu", url="http://pbx/m"))


async def test_service_create_has_its_creation_time(office: Office, menu: VendorService) -> None:
    assert menu == VendorService(
        uuid=identifier(1),
        name="Menu",
        url="http://pbx/m",
        type=None,
        created_at=BEGAN,
        updated_at=BEGAN,
    )
    assert await stored(office) == [menu]


async def test_service_create_requires_no_field(office: Office) -> None:
    empty = await services(office).create(ADMIN, NewVendorService())

    assert empty == VendorService(identifier(1), None, None, None, BEGAN, BEGAN)


async def test_services_are_readable_by_every_account(office: Office, menu: VendorService) -> None:
    assert await services(office).get(ADA, menu.uuid.upper()) == menu
    assert await (await services(office).all(ADA)).everything() == [menu]


async def test_list_page_has_its_total(office: Office, menu: VendorService) -> None:
    office.clock.advance(1)
    younger = await services(office).create(ADMIN, NewVendorService())

    page = await services(office).all(ADA, Window(limit=1, offset=1))

    assert page.first == [younger]
    assert page.total == 2


async def test_update_keeps_other_fields_and_has_its_time(
    office: Office, menu: VendorService
) -> None:
    office.clock.advance(60)

    changed = await services(office).update(
        ADMIN, menu.uuid, VendorServicePatch(name=None, type="IPPhone")
    )

    assert changed == msgspec.structs.replace(
        menu, name=None, type="IPPhone", updated_at="2026-01-31T08:16:30.250Z"
    )
    assert await stored(office) == [changed]


async def test_service_is_deleted(office: Office, menu: VendorService) -> None:
    await services(office).delete(ADMIN, menu.uuid)

    assert await stored(office) == []


@pytest.mark.parametrize("uuid", [MISSING, "", "menu"])
async def test_missing_record_is_not_found(office: Office, menu: VendorService, uuid: str) -> None:
    with pytest.raises(NotFound):
        await services(office).get(ADMIN, uuid)
    with pytest.raises(NotFound):
        await services(office).update(ADMIN, uuid, VendorServicePatch())
    with pytest.raises(NotFound):
        await services(office).delete(ADMIN, uuid)
    assert await stored(office) == [menu]


async def test_write_without_level_0_is_forbidden_without_details(
    office: Office, menu: VendorService
) -> None:
    for uuid in (menu.uuid, MISSING):
        with pytest.raises(Forbidden):
            await services(office).update(ADA, uuid, cast(Any, None))
        with pytest.raises(Forbidden):
            await services(office).delete(ADA, uuid)
    with pytest.raises(Forbidden):
        await services(office).create(ADA, cast(Any, None))
    assert await stored(office) == [menu]


async def test_write_by_every_account_follows_the_setting() -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))

    service = await services(office).create(ADA, NewVendorService(name="Menu"))
    await services(office).update(ADA, service.uuid, VendorServicePatch(name="News"))
    assert [one.name for one in await stored(office)] == ["News"]
    await services(office).delete(ADA, service.uuid)
    assert await stored(office) == []


@pytest.mark.parametrize("command", [NewVendorService, VendorServicePatch])
def test_service_built_in_code_is_validated(
    command: type[NewVendorService | VendorServicePatch],
) -> None:
    with pytest.raises(Invalid) as invalid:
        command(name="\n", url="file:///etc/passwd", type="x" * 256)

    assert [problem.field for problem in invalid.value.problems] == ["name", "url", "type"]
