"""Section 4.12 of the interface: personal directories."""

from typing import Any

import pytest

from support.api import STRANGER, Caller, data_of, error_of

FIELDS = [
    "uuid", "user_uuid", "name", "work", "mobile", "home", "email", "ringtone", "created_at",
]  # fmt: skip

FULL = {
    "name": "Grace Hopper",
    "work": "+1 202 555 0143",
    "mobile": "0150 1234",
    "home": "12",
    "email": "grace@example.com",
    "ringtone": "Chirp1",
}


async def contact(owner: Caller, **fields: Any) -> dict[str, Any]:
    reply = await owner.post(f"/personal-directory/{owner.uuid}", {"name": "Grace", **fields})
    created: dict[str, Any] = data_of(reply, 201)
    return created


async def contacts(caller: Caller, owner: Caller) -> Any:
    return data_of(await caller.get(f"/personal-directory/{owner.uuid}"))


@pytest.mark.parametrize("fields", [{"name": "Grace"}, FULL])
async def test_contact_create_requires_a_name_and_stores_every_field(
    ada: Caller, fields: dict[str, str]
) -> None:
    reply = await ada.post(f"/personal-directory/{ada.uuid}", fields)

    created = data_of(reply, 201, "Personal contact created")
    given = {**dict.fromkeys(FIELDS), **fields, "user_uuid": ada.uuid}
    assert created == {**given, "uuid": created["uuid"], "created_at": created["created_at"]}
    assert list(created) == FIELDS
    assert reply.json()["metadata"] == {}
    assert await contacts(ada, ada) == [created]


async def test_owner_in_the_body_must_match_the_path(ada: Caller, bob: Caller) -> None:
    body = {"name": "Grace", "user_uuid": ada.uuid.upper()}

    created = data_of(await ada.post(f"/personal-directory/{ada.uuid}", body), 201)
    assert created["user_uuid"] == ada.uuid

    for other in (bob.uuid, None, 7, ""):
        body["user_uuid"] = other  # type: ignore[assignment]
        reply = await ada.post(f"/personal-directory/{ada.uuid}", body)
        assert set(error_of(reply, 422, "invalid")) == {"user_uuid"}
    assert await contacts(ada, ada) == [created]


async def test_contacts_of_each_user_are_listed_and_paged_oldest_first(
    ada: Caller, bob: Caller
) -> None:
    await contact(bob)
    path = f"/personal-directory/{ada.uuid}"
    assert data_of(await ada.get(path), 200, "0 personal contact(s) found") == []
    mine = [await contact(ada, name=f"Grace {number}") for number in range(3)]
    mine.sort(key=lambda one: (one["created_at"], one["uuid"]))

    everything = await ada.get(path)
    page = await ada.get(path, limit=1, offset=1)

    assert data_of(everything, 200, "3 personal contact(s) found") == mine
    assert everything.json()["metadata"] == {}
    assert data_of(page, 200, "1 personal contact(s) found") == mine[1:2]
    assert page.json()["metadata"] == {"total": 3, "limit": 1, "offset": 1}
    assert set(error_of(await ada.get(path, offset="x"), 422)) == {"offset"}


async def test_update_changes_only_sent_fields(ada: Caller) -> None:
    before = await contact(ada, **FULL)
    path = f"/personal-directory/contact/{before['uuid']}"

    reply = await ada.put(path, {"name": "G. H.", "email": None})

    after = data_of(reply, 200, "Personal contact updated")
    assert after == {**before, "name": "G. H.", "email": None}
    assert list(after) == FIELDS
    assert await contacts(ada, ada) == [after]
    assert data_of(await ada.put(path, {})) == after


async def test_update_accepts_the_record_as_read(ada: Caller) -> None:
    before = await contact(ada, **FULL)
    body = {**before, "created_at": "2001-01-01T00:00:00.000Z", "work": "9"}

    path = f"/personal-directory/contact/{before['uuid']}"

    assert data_of(await ada.put(path, body)) == {**before, "work": "9"}
    wrong = {"uuid": STRANGER, "name": None, "email": "x", "is_active": True}
    assert set(error_of(await ada.put(path, wrong), 422)) == set(wrong)
    assert set(error_of(await ada.put(path, {"user_uuid": STRANGER}), 422)) == {"user_uuid"}
    assert await contacts(ada, ada) == [{**before, "work": "9"}]


async def test_contact_deleted_twice_is_not_found(ada: Caller) -> None:
    kept = await contact(ada)
    path = f"/personal-directory/contact/{(await contact(ada))['uuid']}"

    assert data_of(await ada.delete(path), 200, "Personal contact deleted") is None

    error_of(await ada.delete(path), 404, "not_found")
    error_of(await ada.put(path, {}), 404)
    assert await contacts(ada, ada) == [kept]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name"}),
        ({"name": None}, {"name"}),
        ({"name": "", "work": "x" * 256, "email": "a@b@c"}, {"name", "work", "email"}),
        ({"name": "G", "home": 7, "mobile": "\x00"}, {"home", "mobile"}),
        ({"name": "G", "department": "x"}, {"department"}),
        ({"name": "G\u200d", "uuid": STRANGER}, {"uuid", "name"}),
        ("Grace", {"body"}),
    ],
)
async def test_create_every_invalid_field_is_named(
    ada: Caller, body: Any, fields: set[str]
) -> None:
    reply = await ada.post(f"/personal-directory/{ada.uuid}", body)

    assert set(error_of(reply, 422, "invalid")) == fields
    assert await contacts(ada, ada) == []


async def test_directory_of_another_user_is_forbidden_whether_or_not_it_exists(
    ada: Caller, bob: Caller
) -> None:
    await contact(bob)

    for owner in (bob.uuid, STRANGER, "7"):
        error_of(await ada.get(f"/personal-directory/{owner}", limit=1), 403, "forbidden")
        reply = await ada.post(f"/personal-directory/{owner}", {"name": "Grace"})
        assert error_of(reply, 403, "forbidden") == {}


async def test_contact_of_another_user_is_not_found(ada: Caller, bob: Caller) -> None:
    theirs = await contact(bob)

    for ask in (ada.delete, lambda path: ada.put(path, {})):
        messages = set()
        for uuid in (theirs["uuid"], STRANGER, "7"):
            reply = await ask(f"/personal-directory/contact/{uuid}")
            assert error_of(reply, 404, "not_found") == {}
            messages.add(reply.json()["message"])
        assert len(messages) == 1
    assert await contacts(bob, bob) == [theirs]


async def test_directory_of_any_user_is_open_to_level_0(admin: Caller, bob: Caller) -> None:
    created = data_of(await admin.post(f"/personal-directory/{bob.uuid}", {"name": "Grace"}), 201)

    assert created["user_uuid"] == bob.uuid
    assert await contacts(bob, bob) == [created]


@pytest.mark.parametrize("owner", [STRANGER, "7"])
async def test_directory_of_missing_user_is_404_for_level_0(admin: Caller, owner: str) -> None:
    error_of(await admin.get(f"/personal-directory/{owner}", limit=1), 404, "not_found")
    reply = await admin.post(f"/personal-directory/{owner}", {"name": "Grace"})
    error_of(reply, 404, "not_found")
    assert "no such user" in reply.json()["message"]
