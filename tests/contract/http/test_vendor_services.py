"""Service definitions: section 4.11 of the interface, and the use cases."""

from typing import Any, cast

import msgspec
import pytest

from phoneprov_adapters.testing.records import identifier
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.vendor_services import (
    CreateVendorService,
    VendorService,
    VendorServicePatch,
    VendorServices,
)
from support.api import STRANGER, Caller, data_of, error_of
from support.office import Office, Settings
from support.resources import check_deletion, check_not_found, check_pages

LEVEL_0 = Actor(identifier(0xAD), level=0)
NO_LEVEL = Actor(identifier(0xA), level=None)
MISSING = identifier(0xDEAD)
BEGAN = "2026-01-31T08:15:30.250Z"
FIELDS = ["uuid", "name", "url", "type", "created_at", "updated_at"]

FULL = {"name": "Menu", "url": "http://pbx:8080/menu.xml?a=b", "type": "IPPhone"}


async def service(admin: Caller, **fields: Any) -> dict[str, Any]:
    defined: dict[str, Any] = data_of(await admin.post("/vendor-services", fields), 201)
    return defined


async def test_service_create_requires_no_field(admin: Caller) -> None:
    reply = await admin.post("/vendor-services", {})

    defined = data_of(reply, 201, "Service created")
    assert list(defined) == FIELDS
    assert {defined[field] for field in FULL} == {None}
    assert defined["created_at"] == defined["updated_at"]
    assert reply.json()["metadata"] == {}


async def test_service_create_returns_the_record(admin: Caller, ada: Caller) -> None:
    defined = await service(admin, **FULL)

    assert {field: defined[field] for field in FULL} == FULL
    reply = await ada.get(f"/vendor-services/{defined['uuid'].upper()}")
    assert data_of(reply, 200, "Service found") == defined


async def test_services_are_listed_and_paged_oldest_first(admin: Caller, ada: Caller) -> None:
    assert data_of(await ada.get("/vendor-services"), 200, "0 service(s) found") == []
    services = [await service(admin, name=f"Menu {number}") for number in range(3)]
    services.sort(key=lambda one: (one["created_at"], one["uuid"]))

    await check_pages(ada, "/vendor-services", "service", services)
    assert set(error_of(await ada.get("/vendor-services", offset=-1), 422)) == {"offset"}


async def test_update_changes_only_sent_fields(admin: Caller) -> None:
    before = await service(admin, **FULL)

    reply = await admin.put(f"/vendor-services/{before['uuid']}", {"name": "News"})

    after = data_of(reply, 200, "Service updated")
    assert after == {**before, "name": "News", "updated_at": after["updated_at"]}
    assert after["updated_at"] >= before["updated_at"]
    assert list(after) == FIELDS
    assert data_of(await admin.get(f"/vendor-services/{before['uuid']}")) == after


@pytest.mark.parametrize("field", list(FULL))
async def test_null_clears_a_field(admin: Caller, field: str) -> None:
    before = await service(admin, **FULL)

    after = data_of(await admin.put(f"/vendor-services/{before['uuid']}", {field: None}))

    assert after == {**before, field: None, "updated_at": after["updated_at"]}


async def test_update_accepts_the_record_as_read(admin: Caller) -> None:
    before = await service(admin, **FULL)
    long_ago = "2001-01-01T00:00:00.000Z"

    reply = await admin.put(
        f"/vendor-services/{before['uuid']}",
        {**before, "created_at": long_ago, "updated_at": long_ago, "type": "Softkey"},
    )

    after = data_of(reply)
    assert after == {**before, "type": "Softkey", "updated_at": after["updated_at"]}
    assert after["updated_at"] > long_ago


async def test_update_other_uuid_is_refused(admin: Caller) -> None:
    before = await service(admin)

    reply = await admin.put(f"/vendor-services/{before['uuid']}", {"uuid": STRANGER})

    assert set(error_of(reply, 422, "invalid")) == {"uuid"}


async def test_service_deleted_twice_is_not_found(admin: Caller) -> None:
    path = f"/vendor-services/{(await service(admin))['uuid']}"

    await check_deletion(admin, path, "Service deleted")


@pytest.mark.parametrize("uuid", [STRANGER, "7", "%00"])
async def test_unknown_service_is_not_found(admin: Caller, uuid: str) -> None:
    await check_not_found(admin, f"/vendor-services/{uuid}")


@pytest.mark.parametrize(
    "url",
    ["https://pbx", "http://[2001:db8::1]:8080/m", "HTTP://PBX/a%20b", "Application:Cisco/Missed",
     "Key:Services", "SoftKey:Exit", "Init:Services", "Dial:1001", "tel:+442079460018",
     "play:Chirp1.raw", "RTPMRx:239.0.0.1:20000"],
)  # fmt: skip
async def test_service_url_is_stored_unchanged(admin: Caller, url: str) -> None:
    assert (await service(admin, url=url))["url"] == url


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"url": "ftp://pbx/menu.xml"}, {"url"}),
        ({"url": "//pbx/menu.xml"}, {"url"}),
        ({"url": "javascript:alert(1)", "name": 7}, {"url", "name"}),
        ({"url": "http://pbx/a b"}, {"url"}),
        ({"url": "http://pbx/" + "x" * 2048}, {"url"}),
        ({"url": "Dial:"}, {"url"}),
        ({"url": "Dial:10 01"}, {"url"}),
        ({"url": "file:/etc/passwd"}, {"url"}),
        ({"url": "data:text/html,x"}, {"url"}),
        ({"name": "a\u202eb"}, {"name"}),
        ({"name": "x" * 256, "type": "\x00"}, {"name", "type"}),
        ({"icon": "x"}, {"icon"}),
        ([], {"body"}),
    ],
)
async def test_every_invalid_field_is_named(admin: Caller, body: Any, fields: set[str]) -> None:
    before = await service(admin)
    path = f"/vendor-services/{before['uuid']}"

    assert set(error_of(await admin.post("/vendor-services", body), 422, "invalid")) == fields
    assert set(error_of(await admin.put(path, body), 422, "invalid")) == fields

    assert data_of(await admin.get("/vendor-services")) == [before]


async def test_create_refuses_read_only_fields(admin: Caller) -> None:
    body = {"uuid": STRANGER, "updated_at": "x"}

    assert set(error_of(await admin.post("/vendor-services", body), 422)) == set(body)


# The use cases, over the memory database


def services(office: Office) -> VendorServices:
    return VendorServices(
        office.database, office.settings.shared_write, office.clock, office.new_id
    )


async def stored(office: Office) -> list[VendorService]:
    async with office.database.read() as tx:
        return await tx.vendor_services.rows(100)


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
async def menu(office: Office) -> VendorService:
    return await services(office).create(
        LEVEL_0, CreateVendorService(name="Menu", url="http://pbx/m")
    )


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


async def test_service_create_requires_no_field_in_code(office: Office) -> None:
    empty = await services(office).create(LEVEL_0, CreateVendorService())

    assert empty == VendorService(identifier(1), None, None, None, BEGAN, BEGAN)


async def test_services_are_readable_by_every_account(office: Office, menu: VendorService) -> None:
    assert await services(office).get(NO_LEVEL, menu.uuid.upper()) == menu
    assert await (await services(office).all(NO_LEVEL)).everything() == [menu]


async def test_list_page_has_its_total(office: Office, menu: VendorService) -> None:
    office.clock.advance(1)
    younger = await services(office).create(LEVEL_0, CreateVendorService())

    page = await services(office).all(NO_LEVEL, Window(limit=1, offset=1))

    assert page.first == [younger]
    assert page.total == 2


async def test_update_keeps_other_fields_and_has_its_time(
    office: Office, menu: VendorService
) -> None:
    office.clock.advance(60)

    changed = await services(office).update(
        LEVEL_0, menu.uuid, VendorServicePatch(name=None, type="IPPhone")
    )

    assert changed == msgspec.structs.replace(
        menu, name=None, type="IPPhone", updated_at="2026-01-31T08:16:30.250Z"
    )
    assert await stored(office) == [changed]


async def test_service_is_deleted(office: Office, menu: VendorService) -> None:
    await services(office).delete(LEVEL_0, menu.uuid)

    assert await stored(office) == []


@pytest.mark.parametrize("uuid", [MISSING, "", "menu"])
async def test_missing_record_is_not_found(office: Office, menu: VendorService, uuid: str) -> None:
    with pytest.raises(NotFound):
        await services(office).get(LEVEL_0, uuid)
    with pytest.raises(NotFound):
        await services(office).update(LEVEL_0, uuid, VendorServicePatch())
    with pytest.raises(NotFound):
        await services(office).delete(LEVEL_0, uuid)
    assert await stored(office) == [menu]


async def test_write_without_level_0_is_forbidden_without_details(
    office: Office, menu: VendorService
) -> None:
    for uuid in (menu.uuid, MISSING):
        with pytest.raises(Forbidden):
            await services(office).update(NO_LEVEL, uuid, cast(Any, None))
        with pytest.raises(Forbidden):
            await services(office).delete(NO_LEVEL, uuid)
    with pytest.raises(Forbidden):
        await services(office).create(NO_LEVEL, cast(Any, None))
    assert await stored(office) == [menu]


async def test_write_by_every_account_follows_the_setting() -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))

    service = await services(office).create(NO_LEVEL, CreateVendorService(name="Menu"))
    await services(office).update(NO_LEVEL, service.uuid, VendorServicePatch(name="News"))
    assert [one.name for one in await stored(office)] == ["News"]
    await services(office).delete(NO_LEVEL, service.uuid)
    assert await stored(office) == []


@pytest.mark.parametrize("command", [CreateVendorService, VendorServicePatch])
def test_service_built_in_code_is_validated(
    command: type[CreateVendorService | VendorServicePatch],
) -> None:
    with pytest.raises(Invalid) as invalid:
        command(name="\n", url="file:///etc/passwd", type="x" * 256)

    assert [problem.field for problem in invalid.value.problems] == ["name", "url", "type"]
