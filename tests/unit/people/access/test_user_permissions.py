"""The one permission of each user; one account always holds level 0."""

import pytest

from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.people.access import CreateAssignment, CreatePermission, Permission
from support.office import Office, Settings


@pytest.fixture
async def desk(office: Office, root: Actor) -> Permission:
    return await office.permissions.create(root, CreatePermission(level=5, name="desk"))


def of(user: Actor, permission: Permission) -> CreateAssignment:
    return CreateAssignment(user_uuid=user.user_uuid, perm_uuid=permission.uuid)


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
