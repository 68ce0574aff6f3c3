"""Accounts: creation, reads, changes and deletion by superadmins."""

from typing import Any

import msgspec
import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Invalid, Unauthenticated
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import CreateUser, UserPatch
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


async def test_created_user_can_log_in(office: Office, root: Actor) -> None:
    user = await office.users.create(root, new_user())

    assert (await office.log_in("CLEO")).user.uuid == user.uuid


async def test_user_create_inactive_is_stored(office: Office, root: Actor) -> None:
    await office.users.create(root, new_user(is_active=False))

    with pytest.raises(Unauthenticated):
        await office.log_in("cleo")


async def test_create_weak_password_in_a_valid_command_is_refused(
    office: Office, root: Actor
) -> None:
    with pytest.raises(Invalid):
        await office.users.create(root, new_user(password=COMMON))


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
        updated_at=timestamp(office.clock()),
        updated_ip="10.9.8.7",
    )
    assert await office.users.get(root, ada.user_uuid) == after
    cleared = await office.users.update(root, ada.user_uuid, sent({"phone": None}))
    assert cleared.phone is None


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
