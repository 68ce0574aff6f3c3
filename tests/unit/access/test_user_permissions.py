"""The one permission of each user; one account always holds level 0."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from phoneprov_core.access.model import CreateAssignment, CreatePermission, Permission
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Conflict, Forbidden, NotFound
from phoneprov_core.kernel.system import shown
from support.office import Office, Settings

NOWHERE = "00000000-0000-4000-8000-ffffffffffff"


@pytest.fixture
async def desk(office: Office, root: Actor) -> Permission:
    return await office.permissions.create(root, CreatePermission(level=5, name="desk"))


def of(user: Actor, permission: Permission) -> CreateAssignment:
    return CreateAssignment(user_uuid=user.user_uuid, perm_uuid=permission.uuid)


async def test_user_is_assigned_a_permission(
    office: Office, root: Actor, bob: Actor, desk: Permission
) -> None:
    assigned = await office.user_permissions.assign(root, of(bob, desk))

    assert (assigned.user_uuid, assigned.perm_uuid) == (bob.user_uuid, desk.uuid)
    assert (assigned.level, assigned.perm_name) == (5, "desk")
    assert assigned.created_at == shown(office.clock())
    assert await office.user_permissions.get(root, bob.user_uuid) == assigned


async def test_assignment_replaces_the_previous_one(
    office: Office, root: Actor, ada: Actor, desk: Permission
) -> None:
    before = await office.user_permissions.get(root, ada.user_uuid)

    after = await office.user_permissions.assign(root, of(ada, desk))

    assert after.uuid != before.uuid
    assert await office.user_permissions.get(root, ada.user_uuid) == after


async def test_assignment_is_removed(office: Office, root: Actor, ada: Actor) -> None:
    await office.user_permissions.remove(root, ada.user_uuid.upper())

    with pytest.raises(NotFound, match="no permission assigned"):
        await office.user_permissions.get(root, ada.user_uuid)
    with pytest.raises(NotFound):
        await office.user_permissions.remove(root, ada.user_uuid)


@pytest.mark.parametrize("uuid", [NOWHERE, "nonsense", ""])
async def test_user_without_an_assignment_has_no_permission(
    office: Office, root: Actor, uuid: str
) -> None:
    with pytest.raises(NotFound):
        await office.user_permissions.get(root, uuid)
    with pytest.raises(NotFound):
        await office.user_permissions.remove(root, uuid)


async def test_assignment_requires_user_and_permission(
    office: Office, root: Actor, bob: Actor, desk: Permission
) -> None:
    with pytest.raises(NotFound, match="no such user"):
        await office.user_permissions.assign(
            root, CreateAssignment(user_uuid=NOWHERE, perm_uuid=NOWHERE)
        )
    with pytest.raises(NotFound, match="no such permission"):
        await office.user_permissions.assign(
            root, CreateAssignment(user_uuid=bob.user_uuid, perm_uuid=NOWHERE)
        )


async def test_assignments_without_level_0_are_forbidden(
    office: Office, ada: Actor, bob: Actor
) -> None:
    def unreadable() -> object:
        raise AssertionError("looked at too early")

    new: Any = cast(Any, None)
    calls: list[Callable[[Actor], Awaitable[object]]] = [
        lambda actor: office.user_permissions.get(actor, ada.user_uuid),
        lambda actor: office.user_permissions.assign(actor, new),
        lambda actor: office.user_permissions.remove(actor, ada.user_uuid),
    ]
    for actor in (ada, bob):
        for call in calls:
            with pytest.raises(Forbidden):
                await call(actor)


# The last superadmin


async def test_last_superadmin_keeps_level_0(
    office: Office, root: Actor, ada: Actor, desk: Permission
) -> None:
    with pytest.raises(Conflict) as unassigned:
        await office.user_permissions.remove(root, root.user_uuid)
    with pytest.raises(Conflict) as replaced:
        await office.user_permissions.assign(root, of(root, desk))

    assert unassigned.value.code == replaced.value.code == "last_superadmin"
    assert (await office.user_permissions.get(root, root.user_uuid)).level == 0


async def test_inactive_superadmin_does_not_count_as_another(
    office: Office, root: Actor, desk: Permission
) -> None:
    await office.add_user("sleeper", level=0, is_active=False)

    with pytest.raises(Conflict):
        await office.user_permissions.remove(root, root.user_uuid)


async def test_superadmin_with_another_can_be_removed(
    office: Office, root: Actor, desk: Permission
) -> None:
    other = await office.add_user("second", level=0)

    await office.user_permissions.assign(root, of(root, desk))

    with pytest.raises(Conflict):
        await office.user_permissions.remove(other, other.user_uuid)


async def test_assignment_of_level_0_may_be_replaced_by_level_0(
    office: Office, root: Actor
) -> None:
    zero = await office.permissions.create(root, CreatePermission(level=0, name="also level 0"))

    assigned = await office.user_permissions.assign(root, of(root, zero))

    assert assigned.perm_name == "also level 0"


async def test_interface_rule_any_assignment_holds_level_0() -> None:
    office = Office(Settings(level_rule=LevelRule.HIERARCHICAL))
    root = await office.add_user("root", level=3)
    nine = await office.permissions.create(root, CreatePermission(level=9, name="nine"))

    await office.user_permissions.assign(root, of(root, nine))

    with pytest.raises(Conflict):
        await office.user_permissions.remove(root, root.user_uuid)
    await office.add_user("ada", level=7)
    await office.user_permissions.remove(root, root.user_uuid)


async def test_concurrent_removals_of_superadmins_leave_one(office: Office) -> None:
    roots = [await office.add_user(f"root{n}", level=0) for n in range(5)]

    left = await asyncio.gather(
        *(office.user_permissions.remove(root, root.user_uuid) for root in roots),
        return_exceptions=True,
    )

    refused = [outcome for outcome in left if outcome is not None]
    assert len(refused) == 1
    assert isinstance(refused[0], Conflict)
