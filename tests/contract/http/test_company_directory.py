"""Section 4.9 of the interface: the company directory."""

from typing import Any

import pytest

from support.api import STRANGER, Caller, data_of, error_of
from support.resources import check_deletion, check_not_found, check_pages

FIELDS = [
    "uuid", "name", "work", "mobile", "home", "email", "ringtone", "department", "company",
    "location", "building", "is_active", "created_at",
]  # fmt: skip

FULL = {
    "name": "Grace Hopper",
    "work": "+1 202 555 0143",
    "mobile": "0150 1234",
    "home": "12",
    "email": "grace@example.com",
    "ringtone": "Chirp1",
    "department": "Compilers",
    "company": "Navy",
    "location": "Arlington",
    "building": "B",
}


async def contact(admin: Caller, **fields: Any) -> dict[str, Any]:
    reply = await admin.post("/company-directory", {"name": "Grace", **fields})
    created: dict[str, Any] = data_of(reply, 201)
    return created


async def test_contact_create_requires_a_name_only(admin: Caller) -> None:
    reply = await admin.post("/company-directory", {"name": "Grace"})

    created = data_of(reply, 201, "Company contact created")
    assert list(created) == FIELDS
    assert created["name"] == "Grace"
    assert created["is_active"] is True
    others = set(FIELDS) - {"uuid", "name", "is_active", "created_at"}
    assert {created[field] for field in others} == {None}
    assert reply.json()["metadata"] == {}


async def test_contact_read_returns_the_created_record(admin: Caller, ada: Caller) -> None:
    created = data_of(await admin.post("/company-directory", FULL), 201)

    assert created == {
        **FULL,
        "uuid": created["uuid"],
        "is_active": True,
        "created_at": created["created_at"],
    }
    reply = await ada.get(f"/company-directory/{created['uuid'].upper()}")
    assert data_of(reply, 200, "Company contact found") == created


async def test_contacts_are_listed_and_paged_oldest_first(admin: Caller, ada: Caller) -> None:
    assert data_of(await ada.get("/company-directory"), 200, "0 company contact(s) found") == []
    contacts = [await contact(admin, name=f"Grace {number}") for number in range(3)]
    contacts.sort(key=lambda one: (one["created_at"], one["uuid"]))

    await check_pages(ada, "/company-directory", "company contact", contacts)
    assert set(error_of(await ada.get("/company-directory", limit=0), 422)) == {"limit"}


async def test_update_changes_only_sent_fields(admin: Caller) -> None:
    before = await contact(admin, **FULL)

    reply = await admin.put(
        f"/company-directory/{before['uuid']}", {"work": "77", "home": None, "email": None}
    )

    after = data_of(reply, 200, "Company contact updated")
    assert after == {**before, "work": "77", "home": None, "email": None}
    assert list(after) == FIELDS
    assert data_of(await admin.get(f"/company-directory/{before['uuid']}")) == after


async def test_update_accepts_the_record_as_read(admin: Caller) -> None:
    before = await contact(admin, **FULL)

    reply = await admin.put(
        f"/company-directory/{before['uuid']}",
        {**before, "created_at": "2001-01-01T00:00:00.000Z", "name": "G. H."},
    )

    assert data_of(reply) == {**before, "name": "G. H."}


async def test_is_active_is_written_by_post_and_put(admin: Caller) -> None:
    hidden = await contact(admin, is_active=False)
    path = f"/company-directory/{hidden['uuid']}"

    assert hidden["is_active"] is False
    assert data_of(await admin.put(path, {"is_active": True}))["is_active"] is True
    assert data_of(await admin.put(path, {"is_active": False})) == hidden
    assert set(error_of(await admin.put(path, {"is_active": None}), 422)) == {"is_active"}
    assert (await contact(admin))["is_active"] is True


async def test_update_empty_body_changes_nothing(admin: Caller) -> None:
    before = await contact(admin)

    assert data_of(await admin.put(f"/company-directory/{before['uuid']}", {})) == before


async def test_update_other_uuid_is_refused(admin: Caller) -> None:
    before = await contact(admin)

    reply = await admin.put(f"/company-directory/{before['uuid']}", {"uuid": STRANGER})

    assert set(error_of(reply, 422, "invalid")) == {"uuid"}


async def test_contact_deleted_twice_is_not_found(admin: Caller) -> None:
    path = f"/company-directory/{(await contact(admin))['uuid']}"

    await check_deletion(admin, path, "Company contact deleted")


@pytest.mark.parametrize("uuid", [STRANGER, "7", "%00", "' OR 1=1 --"])
async def test_unknown_contact_is_not_found(admin: Caller, uuid: str) -> None:
    await check_not_found(admin, f"/company-directory/{uuid}")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name"}),
        ({"name": None}, {"name"}),
        ({"name": " "}, {"name"}),
        ({"name": "G\u202ecarG"}, {"name"}),
        ({"name": "G", "department": "a\u200bb", "location": "\u2066"}, {"department", "location"}),
        ({"name": 7}, {"name"}),
        ({"name": "x" * 256}, {"name"}),
        ({"name": "G", "work": "x" * 256, "building": "a\nb"}, {"work", "building"}),
        ({"name": "G", "email": "grace"}, {"email"}),
        ({"name": "G", "email": "@", "mobile": 7}, {"email", "mobile"}),
        ({"name": "G", "nick": "x", "uuid": STRANGER}, {"nick", "uuid"}),
        ({"name": "G", "is_active": "no"}, {"is_active"}),
        ([], {"body"}),
    ],
)
async def test_create_every_invalid_field_is_named(
    admin: Caller, body: Any, fields: set[str]
) -> None:
    assert set(error_of(await admin.post("/company-directory", body), 422, "invalid")) == fields
    assert data_of(await admin.get("/company-directory")) == []


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": None}, {"name"}),
        ({"name": "", "email": "@", "ringtone": "\x07"}, {"name", "email", "ringtone"}),
        ({"user_uuid": STRANGER}, {"user_uuid"}),
    ],
)
async def test_update_every_invalid_field_is_named(
    admin: Caller, body: Any, fields: set[str]
) -> None:
    before = await contact(admin)
    path = f"/company-directory/{before['uuid']}"

    assert set(error_of(await admin.put(path, body), 422)) == fields
    assert data_of(await admin.get(path)) == before


async def test_text_of_255_characters_is_accepted_and_normalised(admin: Caller) -> None:
    created = await contact(admin, name="e\u0301", company="x" * 255)

    assert created["name"] == "\u00e9"
    assert created["company"] == "x" * 255
