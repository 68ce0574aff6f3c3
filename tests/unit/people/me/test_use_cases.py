"""The caller's own records."""

import msgspec
import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.people.vendor_users import VendorUser
from support.office import Office


async def test_me_returns_account_permission_and_pin(
    office: Office, root: Actor, ada: Actor
) -> None:
    pin = VendorUser(office.new_id(), ada.user_uuid, "hash", "2026-01-31T08:15:30.250Z")
    async with office.database.write() as tx:
        await tx.vendor_users.save(pin)

    profile = await office.me.profile(ada)

    user = await office.users.get(root, ada.user_uuid)
    shared = {name: getattr(profile, name) for name in user.__struct_fields__}
    assert shared == msgspec.structs.asdict(user)
    assert profile.permission is not None
    assert (profile.permission.level, profile.permission.perm_name) == (1, "of ada")
    assert profile.vendor_user == pin


async def test_me_permission_and_pin_are_null_without_records(office: Office, bob: Actor) -> None:
    profile = await office.me.profile(bob)

    assert (profile.permission, profile.vendor_user) == (None, None)


async def test_me_of_a_deleted_user_is_refused(office: Office, root: Actor, bob: Actor) -> None:
    await office.users.delete(root, bob.user_uuid)

    with pytest.raises(NotFound):
        await office.me.profile(bob)
