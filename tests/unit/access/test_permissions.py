"""Permissions: creation, reads, changes and deletion by superadmins."""

import pytest

from phoneprov_core.access.model import CreateAssignment, CreatePermission, PermissionPatch
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.kernel.system import shown
from support.office import Office


async def test_permission_is_created_and_read(office: Office, root: Actor) -> None:
    created = await office.permissions.create(
        root, CreatePermission(level=5, name="desk admin", description="a\nb")
    )

    assert (created.level, created.name, created.description) == (5, "desk admin", "a\nb")
    assert created.created_at == shown(office.clock())
    assert await office.permissions.get(root, created.uuid.upper()) == created


async def test_permissions_are_listed_oldest_first(office: Office, root: Actor) -> None:
    for level in (9, 8, 7):
        office.clock.advance(1)
        await office.permissions.create(root, CreatePermission(level=level, name="p"))

    listed = await (await office.permissions.all(root)).everything()
    page = await office.permissions.all(root, Window(2, 1))

    assert [permission.level for permission in listed] == [0, 9, 8, 7]
    assert [permission.level for permission in page.first] == [9, 8]
    assert page.total == 4


async def test_level_and_name_together_are_unique(office: Office, root: Actor) -> None:
    await office.permissions.create(root, CreatePermission(level=5, name="a"))
    await office.permissions.create(root, CreatePermission(level=5, name="b"))

    with pytest.raises(Conflict) as conflict:
        await office.permissions.create(root, CreatePermission(level=5, name="a"))

    assert [problem.field for problem in conflict.value.problems] == ["name"]


async def test_permission_update_keeps_its_level(office: Office, root: Actor) -> None:
    created = await office.permissions.create(
        root, CreatePermission(level=5, name="a", description="d")
    )

    renamed = await office.permissions.update(root, created.uuid, PermissionPatch(name="b"))
    cleared = await office.permissions.update(root, created.uuid, PermissionPatch(description=None))

    assert (renamed.name, renamed.description) == ("b", "d")
    assert (cleared.name, cleared.description, cleared.level) == ("b", None, 5)
    assert await office.permissions.get(root, created.uuid) == cleared


async def test_update_with_another_level_is_refused(office: Office, root: Actor) -> None:
    created = await office.permissions.create(root, CreatePermission(level=5, name="a"))

    with pytest.raises(Invalid) as error:
        await office.permissions.update(root, created.uuid, PermissionPatch(level=6))

    assert [problem.field for problem in error.value.problems] == ["level"]
    same = PermissionPatch(level=5, name="b")
    assert (await office.permissions.update(root, created.uuid, same)).name == "b"


async def test_update_name_in_use_at_its_level_is_conflict(office: Office, root: Actor) -> None:
    await office.permissions.create(root, CreatePermission(level=5, name="a"))
    other = await office.permissions.create(root, CreatePermission(level=5, name="b"))

    with pytest.raises(Conflict):
        await office.permissions.update(root, other.uuid, PermissionPatch(name="a"))

    assert (await office.permissions.get(root, other.uuid)).name == "b"


async def test_permission_is_deleted(office: Office, root: Actor) -> None:
    created = await office.permissions.create(root, CreatePermission(level=5, name="a"))

    await office.permissions.delete(root, created.uuid)

    with pytest.raises(NotFound):
        await office.permissions.get(root, created.uuid)


async def test_assigned_permission_is_not_deleted(office: Office, root: Actor, bob: Actor) -> None:
    created = await office.permissions.create(root, CreatePermission(level=5, name="a"))
    assignment = CreateAssignment(user_uuid=bob.user_uuid, perm_uuid=created.uuid)
    await office.user_permissions.assign(root, assignment)

    with pytest.raises(Conflict) as conflict:
        await office.permissions.delete(root, created.uuid)

    assert conflict.value.code == "in_use"
    assert await office.permissions.get(root, created.uuid) == created
