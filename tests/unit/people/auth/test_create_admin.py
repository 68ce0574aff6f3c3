"""The first superadmin."""

from typing import Any

import pytest

from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import Conflict, Invalid
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.access import CreatePermission
from phoneprov_core.people.auth.accounts import CreateAdmin
from phoneprov_core.people.users.model import AccountPolicy, Registration
from phoneprov_core.people.users.use_cases import add_user, created_user
from support.office import COMMON, PASSWORD, Office


def account(username: str = "chief", **changes: Any) -> Registration:
    fields = {
        "first_name": "Chief",
        "last_name": "Operator",
        "username": username,
        "email": f"{username}@example.com",
        "password": PASSWORD,
    }
    return Registration(**{**fields, **changes})


@pytest.fixture
def create_admin(office: Office) -> CreateAdmin:
    policy = AccountPolicy(lambda password: password == COMMON)
    return CreateAdmin(office.database, office.hasher, policy, office.clock, office.new_id)


async def test_first_account_holds_level_0(office: Office, create_admin: CreateAdmin) -> None:
    assert not await create_admin.has_password("chief")

    created = await create_admin(account())

    assert created.is_new
    assert await create_admin.has_password("CHIEF")
    actor = await office.actor_of(await office.log_in("chief"))
    assert (actor.user_uuid, actor.level) == (created.user.uuid, 0)
    permission = await office.user_permissions.get(actor, created.user.uuid)
    assert permission.perm_name == "superadmin"


async def test_create_admin_can_be_repeated(office: Office, create_admin: CreateAdmin) -> None:
    first = await create_admin(account())
    actor = await office.actor_of(await office.log_in("chief"))
    before = await office.user_permissions.get(actor, actor.user_uuid)

    again = await create_admin(account(password="not the same one"))

    assert not again.is_new
    assert again.user.uuid == first.user.uuid
    await office.log_in("chief", PASSWORD)
    assert await office.user_permissions.get(actor, actor.user_uuid) == before
    assert len(await (await office.permissions.all(actor)).everything()) == 1


async def test_existing_account_becomes_active_superadmin(
    office: Office, create_admin: CreateAdmin, ada: Actor
) -> None:
    await office.deactivate(ada.user_uuid)

    raised = await create_admin(account("ADA", email="other@example.com"))

    assert not raised.is_new
    assert raised.user.email == "ada@example.com"
    assert (await office.actor_of(await office.log_in("ada"))).level == 0


async def test_existing_permission_is_reused(
    office: Office, create_admin: CreateAdmin, root: Actor
) -> None:
    there = await office.permissions.create(root, CreatePermission(level=0, name="SuperAdmin"))
    await office.permissions.create(root, CreatePermission(level=1, name="superadmin"))

    created = await create_admin(account())

    assigned = await office.user_permissions.get(root, created.user.uuid)
    assert assigned.perm_uuid == there.uuid


async def test_email_of_another_account_is_refused_and_nothing_is_stored(
    office: Office, create_admin: CreateAdmin, ada: Actor, root: Actor
) -> None:
    with pytest.raises(Conflict):
        await create_admin(account(email="ADA@example.com"))

    assert not await create_admin.has_password("chief")
    names = [p.name for p in await (await office.permissions.all(root)).everything()]
    assert "superadmin" not in names


async def test_weak_password_is_refused(create_admin: CreateAdmin) -> None:
    with pytest.raises(Invalid):
        await create_admin(account(password=COMMON))

    assert not await create_admin.has_password("chief")


async def test_create_admin_gives_an_account_without_a_password_the_given_one(
    office: Office, create_admin: CreateAdmin
) -> None:
    user = created_user(account(), office.new_id(), timestamp(office.clock()), "::1", None)
    async with office.database.write(by=SYSTEM_ACTOR) as tx:
        await add_user(tx, user, create_admin.policy, None)
    assert not await create_admin.has_password("chief")

    made = await create_admin(account())
    again = await create_admin(account(password="another one, for nothing"))

    assert (made.user.uuid, made.is_new, made.has_new_password) == (user.uuid, False, True)
    assert not again.has_new_password
    assert (await office.actor_of(await office.log_in("chief"))).user_uuid == user.uuid
