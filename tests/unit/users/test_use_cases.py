"""Accounts: creation, reads, changes and deletion by superadmins."""

import asyncio
from typing import Any

import msgspec
import pytest

from phoneprov_core.access.rules import LastSuperadmin
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound, Unauthenticated
from phoneprov_core.kernel.paging import Window
from phoneprov_core.kernel.system import shown
from phoneprov_core.profiles.model import CreateProfile
from phoneprov_core.users.model import CreateUser, UserPatch
from support.office import COMMON, PASSWORD, Office

NEW_PASSWORD = "another fine password"


def new_user(username: str = "cleo", **more: Any) -> CreateUser:
    return CreateUser(
        **{
            "first_name": "Cleo",
            "last_name": "Patra",
            "username": username,
            "email": f"{username}@example.com",
            "password": PASSWORD,
            **more,
        }
    )


def sent(body: dict[str, object]) -> UserPatch:
    return command_of(UserPatch, body)


# Creating


async def test_user_create_stores_every_field(office: Office, root: Actor) -> None:
    user = await office.users.create(root, new_user(phone="12", lang="de", location="Z\u00fcrich"))

    now = shown(office.clock())
    assert user.username == "cleo"
    assert (user.phone, user.lang, user.location, user.timezone) == (
        "12", "de", "Z\u00fcrich", "UTC",
    )  # fmt: skip
    assert (user.created_at, user.updated_at) == (now, now)
    assert (user.created_by, user.created_ip, user.updated_ip) == (
        root.user_uuid, "10.9.8.7", "10.9.8.7",
    )  # fmt: skip
    assert user.is_active
    assert [user.last_uuid, user.last_login_at, user.last_login_ip, user.last_logout_ip] == (
        [None] * 4
    )
    assert await office.users.get(root, user.uuid) == user


async def test_created_user_can_log_in(office: Office, root: Actor) -> None:
    user = await office.users.create(root, new_user())

    assert (await office.log_in("CLEO")).user.uuid == user.uuid


async def test_user_create_inactive_is_stored(office: Office, root: Actor) -> None:
    await office.users.create(root, new_user(is_active=False))

    with pytest.raises(Unauthenticated):
        await office.log_in("cleo")


@pytest.mark.parametrize(
    ("taken", "field"),
    [({"username": "ROOT", "email": "x@example.com"}, "username"),
     ({"email": "Root@Example.com"}, "email")],
)  # fmt: skip
async def test_create_username_or_email_in_use_is_conflict_and_stores_nothing(
    office: Office, root: Actor, taken: dict[str, str], field: str
) -> None:
    with pytest.raises(Conflict) as conflict:
        await office.users.create(root, new_user(**taken))

    assert [problem.field for problem in conflict.value.problems] == [field]
    assert len(await (await office.users.all(root)).everything()) == 1


@pytest.mark.parametrize("password", [COMMON, "short", "x" * 257, "nul\x00inside it"])
async def test_create_weak_password_is_refused(office: Office, root: Actor, password: str) -> None:
    new = msgspec.structs.replace(new_user(), password=password)

    with pytest.raises(Invalid) as error:
        await office.users.create(root, new)

    assert {problem.field for problem in error.value.problems} == {"password"}
    assert password not in str(error.value.problems)


async def test_create_weak_password_in_a_valid_command_is_refused(
    office: Office, root: Actor
) -> None:
    with pytest.raises(Invalid):
        await office.users.create(root, new_user(password=COMMON))


# Reading


async def test_users_are_listed_oldest_first(
    office: Office, root: Actor, ada: Actor, bob: Actor
) -> None:
    listed = await (await office.users.all(root)).everything()
    page = await office.users.all(root, Window(1, 1))

    assert [user.username for user in listed] == ["root", "ada", "bob"]
    assert [user.username for user in page.first] == ["ada"]
    assert page.total == 3


# Changing


async def test_update_changes_the_fields_of_the_patch(
    office: Office, root: Actor, ada: Actor
) -> None:
    before = await office.users.get(root, ada.user_uuid)
    office.clock.advance(60)

    after = await office.users.update(root, ada.user_uuid, UserPatch(phone="12", lang="fr"))

    assert after == msgspec.structs.replace(
        before,
        phone="12",
        lang="fr",
        last_uuid=root.user_uuid,
        updated_at=shown(office.clock()),
        updated_ip="10.9.8.7",
    )
    assert await office.users.get(root, ada.user_uuid) == after
    cleared = await office.users.update(root, ada.user_uuid, sent({"phone": None}))
    assert cleared.phone is None


async def test_identifier_in_the_body_must_match(office: Office, root: Actor, ada: Actor) -> None:
    with pytest.raises(Invalid) as error:
        await office.users.update(root, ada.user_uuid, sent({"uuid": root.user_uuid}))

    assert [problem.field for problem in error.value.problems] == ["uuid"]


async def test_update_username_in_use_is_conflict(office: Office, root: Actor, ada: Actor) -> None:
    with pytest.raises(Conflict):
        await office.users.update(root, ada.user_uuid, UserPatch(username="Root"))

    renamed = await office.users.update(root, ada.user_uuid, UserPatch(username="ADA"))
    assert renamed.username == "ADA"


async def test_new_password_ends_the_sessions_of_the_account(
    office: Office, root: Actor, ada: Actor
) -> None:
    logged_in = await office.log_in("ada")

    await office.users.update(root, ada.user_uuid, UserPatch(password=NEW_PASSWORD))

    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)
    with pytest.raises(Unauthenticated):
        await office.log_in("ada", PASSWORD)
    await office.log_in("ada", NEW_PASSWORD)


async def test_own_new_password_keeps_the_current_session(office: Office, root: Actor) -> None:
    here, elsewhere = await office.log_in("root"), await office.log_in("root")
    actor = await office.actor_of(here)

    await office.users.update(actor, root.user_uuid, UserPatch(password=NEW_PASSWORD))

    assert (await office.actor_of(here)).user_uuid == root.user_uuid
    with pytest.raises(Unauthenticated):
        await office.actor_of(elsewhere)


async def test_update_of_other_fields_keeps_sessions(
    office: Office, root: Actor, ada: Actor
) -> None:
    logged_in = await office.log_in("ada")

    await office.users.update(root, ada.user_uuid, UserPatch(phone="12", is_active=True))

    assert (await office.actor_of(logged_in)).user_uuid == ada.user_uuid


async def test_update_weak_password_is_refused(office: Office, root: Actor, ada: Actor) -> None:
    with pytest.raises(Invalid):
        await office.users.update(root, ada.user_uuid, UserPatch(password=COMMON))

    await office.log_in("ada", PASSWORD)


async def test_deactivation_ends_every_session(office: Office, root: Actor, ada: Actor) -> None:
    logged_in = await office.log_in("ada")

    await office.users.update(root, ada.user_uuid, UserPatch(is_active=False))
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)

    await office.users.update(root, ada.user_uuid, UserPatch(is_active=True))
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)


# Deleting


async def test_user_is_deleted_with_its_records(office: Office, root: Actor, ada: Actor) -> None:
    logged_in = await office.log_in("ada")
    await office.profiles.create(
        ada, CreateProfile(user_uuid=ada.user_uuid, name="Ada", cnf_xml="<device/>")
    )

    await office.users.delete(root, ada.user_uuid)

    with pytest.raises(NotFound):
        await office.users.get(root, ada.user_uuid)
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)
    assert await (await office.profiles.all(root)).everything() == []
    with pytest.raises(NotFound):
        await office.users.delete(root, ada.user_uuid)


# The last superadmin


async def test_last_superadmin_is_neither_deleted_nor_deactivated(
    office: Office, root: Actor, ada: Actor
) -> None:
    await office.add_user("sleeper", level=0, is_active=False)

    with pytest.raises(Conflict) as deleted:
        await office.users.delete(root, root.user_uuid)
    with pytest.raises(Conflict) as deactivated:
        await office.users.update(root, root.user_uuid, UserPatch(is_active=False))

    assert deleted.value.code == deactivated.value.code == "last_superadmin"
    assert (await office.users.get(root, root.user_uuid)).is_active


async def test_inactive_superadmin_can_be_deleted(office: Office, root: Actor) -> None:
    sleeper = await office.add_user("sleeper", level=0, is_active=False)

    await office.users.update(root, sleeper.user_uuid, UserPatch(is_active=False))
    await office.users.delete(root, sleeper.user_uuid)


async def test_superadmins_deleting_each_other_leave_one(office: Office) -> None:
    one, two = [await office.add_user(name, level=0) for name in ("one", "two")]

    outcomes = await asyncio.gather(
        office.users.delete(one, two.user_uuid),
        office.users.update(two, one.user_uuid, UserPatch(is_active=False)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes].count(LastSuperadmin) == 1
