"""What is said of a phone that waits for the profile of its desk."""

from typing import Any

import msgspec

from phoneprov_core.kernel.errors import Refused
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.switching.errors import NoAddress
from support.api import data_of
from support.hotdesk import LOBBY, OTHER_IP, OTHER_MAC, Hotdesk
from support.switch_rig import MAC, XML

NEW = OTHER_MAC


async def waiting(office: Hotdesk, mac: str = NEW) -> Any:
    return data_of(await office.admin.get(f"/phones/{mac}/state"))["waiting"]


async def replaced(office: Hotdesk, **more: str) -> None:
    body = {"mac": NEW, **more}
    data_of(await office.admin.post(f"/phones/{MAC}/replace", body), 201)


async def test_replacement_waits_for_the_default_profile_until_the_desk_puts_it(
    office: Hotdesk,
) -> None:
    assert await waiting(office, MAC) is None

    await replaced(office, phone_ip=OTHER_IP)

    expected = {"profile_uuid": office.lobby, "problem": None, "next_at": None}
    assert await waiting(office) == expected
    assert await waiting(office, MAC) == {**expected, "profile_uuid": None}
    assert await office.keep_desks() == 2
    await office.settled(NEW)
    assert office.on_phone(OTHER_IP, NEW) == LOBBY.encode()
    assert await waiting(office) is None
    assert await waiting(office, MAC) is None


async def test_replacement_waits_for_the_profile_of_the_user_who_is_logged_in(
    office: Hotdesk,
) -> None:
    await office.log_in()

    await replaced(office, phone_ip=OTHER_IP)

    assert (await waiting(office))["profile_uuid"] == office.profile
    await office.keep_desks()
    await office.settled(NEW)
    assert office.on_phone(OTHER_IP, NEW) == XML.encode()
    assert await waiting(office) is None


async def test_replacement_without_an_address_says_why_it_waits_and_until_when(
    office: Hotdesk,
) -> None:
    await replaced(office)

    await office.keep_desks()

    said = await waiting(office)
    assert (said["profile_uuid"], said["problem"]) == (office.lobby, NoAddress().message)
    assert await office.keep_desks() == 0
    assert said["next_at"] > timestamp(office.api.container.clock()())
    entries = data_of(await office.admin.get("/audit", resource_id=NEW))
    assert all("problem" not in (one["changes"] or {}) for one in entries)
    data_of(await office.admin.put(f"/phones/{NEW}", {"phone_ip": OTHER_IP}))
    async with office.api.database.write() as tx:
        await tx.desks.put(msgspec.structs.replace(await tx.desks.find(NEW), not_before=0))
    assert await waiting(office) == {**said, "next_at": None}
    assert await office.keep_desks() == 1
    await office.settled(NEW)
    assert await waiting(office) is None
    assert (await office.record(NEW)).problem is None


async def test_replacement_is_tried_again_until_the_upload_succeeds(office: Hotdesk) -> None:
    await replaced(office, phone_ip=OTHER_IP)
    pauses = []
    for _ in range(3):
        office.world.fail_next(Refused("The FTP server is away."))
        await office.keep_desks()
        record, now = await office.record(NEW), millis(office.api.container.clock()())
        assert (await waiting(office))["problem"] == "The FTP server is away."
        pauses.append(round((record.not_before - now) / 1000))
        async with office.api.database.write() as tx:
            await tx.desks.put(msgspec.structs.replace(record, not_before=0))

    assert await office.keep_desks() == 1

    assert pauses == [60, 600, 600]
    await office.settled(NEW)
    assert office.on_phone(OTHER_IP, NEW) == LOBBY.encode()
    assert await waiting(office) is None


async def test_replacement_that_was_switched_meanwhile_waits_for_nothing(office: Hotdesk) -> None:
    await replaced(office, phone_ip=OTHER_IP)
    before = await office.record(NEW)
    order = {"profile_uuid": office.profile, "mac": NEW}
    data_of(await office.admin.post("/phone-profiles/switch", order), metadata=False)
    assert await waiting(office) is None

    await office.api.container.keep_desks()._postpone(before, "Away.")

    assert await waiting(office) is None
    assert office.on_phone(OTHER_IP, NEW) == XML.encode()
