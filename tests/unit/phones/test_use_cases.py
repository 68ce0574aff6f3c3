"""The inventory of phones."""

import msgspec
import pytest

from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Forbidden, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import CreatePhone, PhonePatch
from support.office import Office, Settings

MAC = "00:1B:D4:12:34:56"
SPELLINGS = [MAC, "00-1b-d4-12-34-56", "001bd4123456", "001B.D412.3456"]


def sent(body: dict[str, object]) -> PhonePatch:
    return command_of(PhonePatch, body)


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_phone_is_found_by_every_spelling_of_its_mac(
    office: Office, root: Actor, bob: Actor, spelling: str
) -> None:
    phone = await office.phones.create(root, CreatePhone(mac=spelling, model="CP-7945G"))

    assert (phone.mac, phone.model, phone.is_active) == (MAC, "CP-7945G", True)
    assert phone.created_at == phone.updated_at == shown(office.clock())
    for path in SPELLINGS:
        assert await office.phones.get(bob, path) == phone


async def test_mac_in_use_is_conflict(office: Office, root: Actor) -> None:
    await office.phones.create(root, CreatePhone(mac=MAC))

    with pytest.raises(Conflict) as conflict:
        await office.phones.create(root, CreatePhone(mac="001bd4123456"))

    assert [problem.field for problem in conflict.value.problems] == ["mac"]


async def test_phones_are_readable_by_every_account_oldest_first(
    office: Office, root: Actor, bob: Actor
) -> None:
    for last in (3, 1, 2):
        office.clock.advance(1)
        await office.phones.create(root, CreatePhone(mac=f"001bd412340{last}"))

    listed = await (await office.phones.all(bob)).everything()
    page = await office.phones.all(bob, Window(1, 1))

    assert [phone.mac[-1] for phone in listed] == ["3", "1", "2"]
    assert [phone.mac[-1] for phone in page.first] == ["1"]
    assert page.total == 3


async def test_update_changes_the_fields_of_the_patch(office: Office, root: Actor) -> None:
    before = await office.phones.create(root, CreatePhone(mac=MAC, phone_ip="10.0.0.1", brand="C"))
    office.clock.advance(5)

    after = await office.phones.update(root, "001b.d412.3456", PhonePatch(phone_ip="10.0.0.2"))

    assert after == msgspec.structs.replace(
        before, phone_ip="10.0.0.2", updated_at=shown(office.clock())
    )
    assert await office.phones.get(root, MAC) == after
    assert (await office.phones.update(root, MAC, sent({"phone_ip": None}))).phone_ip is None


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_phone_is_deleted(office: Office, root: Actor, spelling: str) -> None:
    await office.phones.create(root, CreatePhone(mac=MAC))

    await office.phones.delete(root, spelling)

    with pytest.raises(NotFound):
        await office.phones.get(root, MAC)


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
