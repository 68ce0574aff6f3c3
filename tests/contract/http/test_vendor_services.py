"""Section 4.11 of the interface: service definitions."""

from typing import Any

import pytest

from support.api import STRANGER, Caller, data_of, error_of
from support.resources import check_deletion, check_not_found, check_pages

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


@pytest.mark.parametrize("url", ["https://pbx", "http://[2001:db8::1]:8080/m", "HTTP://PBX/a%20b"])
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
        ({"url": ""}, {"url"}),
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
    body = {"uuid": STRANGER, "created_at": "x", "updated_at": "x"}

    assert set(error_of(await admin.post("/vendor-services", body), 422)) == set(body)
