"""The inventory of phones."""

import pytest

from phoneprov_core.inventory.phones.model import CreatePhone, PhonePatch
from phoneprov_core.kernel.actor import SharedWrite
from phoneprov_core.kernel.errors import Forbidden
from support.office import Office, Settings

MAC = "00:1B:D4:12:34:56"


async def test_phone_ip_requires_level_0_with_shared_writing() -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))
    root, bob = await office.add_user("root", level=0), await office.add_user("bob")
    with pytest.raises(Forbidden):
        await office.phones.create(bob, CreatePhone(mac=MAC, phone_ip="10.6.6.6"))
    await office.phones.create(root, CreatePhone(mac=MAC, phone_ip="10.0.0.1"))

    for address in ("10.6.6.6", None):
        with pytest.raises(Forbidden):
            await office.phones.update(bob, MAC, PhonePatch(phone_ip=address))
    changed = await office.phones.update(bob, MAC, PhonePatch(name="desk", phone_ip="10.0.0.1"))

    assert (changed.name, changed.phone_ip) == ("desk", "10.0.0.1")
    with pytest.raises(Forbidden):
        await office.phones.delete(bob, MAC)
    await office.phones.delete(root, MAC)
    again = await office.phones.create(bob, CreatePhone(mac=MAC))
    assert again.phone_ip is None
    with pytest.raises(Forbidden):
        await office.phones.update(bob, MAC, PhonePatch(phone_ip="10.6.6.6"))
