"""After a kill at any step of an adoption, at the phone or not, or of a replacement, the next start
finds it done wholly or not at all, and the new phone has what it is to have."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from faults.changing import ADMIN, FLEET_ACTS, IP, Office, Order, newcomer, opened
from faults.test_line_crashes import LATER, Building, Case, building
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.switching.deployments.model import DeploymentFilter
from support.phone_records import a_flag, a_kem
from support.postgres import new_database
from support.scale import long_only, note

SHORT = [("replace", "commit 2"), ("adopt", "phone 1"), ("onboard", "commit 2")]


async def prepared(made: Building) -> Case:
    """A phone with all that belongs to one, at which ada is logged in, and one that was seen."""
    case = await made.case("logout", "default")
    here = case.floor.here
    number = int(here.replace(":", ""), 16) & 0xFFFF
    async with opened(made.environment) as office:
        templates = office.container.use_cases().templates
        if not (await templates.all(ADMIN)).first:
            new = CreateTemplate(name="bootstrap", body="<device>{{ phone.hex }}</device>")
            await templates.create(ADMIN, new)
        async with office.container.database().write(by=SYSTEM_ACTOR) as tx:
            moment = "2026-01-31T08:15:30.250Z"
            await tx.discovered_phones.see(newcomer(case.floor), IP, "CP-7945G", "x", moment)
            await tx.kems.add(a_kem(number, connected_phone=here))
            await tx.vendor_phones.save(a_flag(number, mac=here))
    return case


async def has_happened(office: Office, way: str, case: Case) -> bool:
    """Whether the change was made, wholly, with its effects; else nothing of it was."""
    floor, mac, here = case.floor, newcomer(case.floor), case.floor.here
    async with office.container.database().read() as tx:
        old, new = await tx.phones.find(here), await tx.phones.find(mac)
        left, desk = await tx.desks.find(here), await tx.desks.find(mac)
        kems = {one.connected_phone for one in await tx.kems.rows(999)} & {here, mac}
        flags = {one.mac for one in await tx.vendor_phones.rows(999)} & {here, mac}
        assert not [one for one in (mac, here) if await tx.leases.holder(one) is not None]
    assert old is not None
    is_moved = not old.is_active
    user = floor.ada if is_moved else floor.bob
    assert is_moved is (way == "replace" and new is not None)
    assert kems == flags == {mac if is_moved else here}
    assert left.user_uuid == (None if is_moved else floor.ada.uuid)
    if new is None:
        assert (desk.default_profile_uuid, office.file(mac)) == (None, None)
        return False
    assert desk.default_profile_uuid == (case.lobby if is_moved else floor.bob).profile
    assert desk.user_uuid == (user.uuid if is_moved else None)
    assert office.file(mac) == user.text
    if way != "onboard":  # the person before the phone restarts it, until its address is confirmed
        assert office.registered(mac)[0] == user.text
    history = await office.container.use_cases().deployments.of_phone(
        ADMIN, mac, DeploymentFilter()
    )
    assert {one.mac for one in history.first} == ({here, mac} if is_moved else {mac})
    return True


async def killed(made: Building, way: str, before: str) -> None:
    """Kill a change before this effect, and start the service again."""
    case = await prepared(made)
    await made.killed(Case(way, "default", case.floor, case.lobby), before)
    async with opened(made.environment, later=LATER) as office:
        await office.settled()
        happened = await has_happened(office, way, case)
        assert happened is (before != "commit 1") or way == "onboard", (way, before)
        assert await office.container.keep_desks()() == 0, (way, before)
        if not happened:  # it can be made now
            await FLEET_ACTS[way](office, case.floor)
            await office.settled()
            assert await has_happened(office, way, case)


async def test_new_phone_is_whole_after_a_kill(tmp_path: Path) -> None:
    async with building(tmp_path, PHONEPROV_ADOPT="pin") as made:
        for way, before in SHORT:
            await killed(made, way, before)


@long_only
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_new_phone_is_whole_after_a_kill_at_any_step(tmp_path: Path, database: str) -> None:
    count, problems = 0, []
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(new_database()) if database == "postgres" else ""
        made = await stack.enter_async_context(building(tmp_path, url, PHONEPROV_ADOPT="pin"))
        for way in FLEET_ACTS:
            case, seen = await prepared(made), tmp_path / "effects"
            order = Order(
                way=way, floor=case.floor, environment=made.environment, effects=str(seen)
            )
            assert await made.run(order) == 0
            for effect in json.loads(seen.read_text()):
                count += 1
                try:
                    await killed(made, way, effect)
                except AssertionError as error:
                    problems.append(f"{way}, {effect}: {error}")
    assert problems == []
    note(f"adoptions and replacements, killed at {count} places, {database}")
