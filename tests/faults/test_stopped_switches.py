"""A process that stands still in the middle of a switch, as on a paused host, while another process
switches the phone: it changes nothing more, and calls the phone no more."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from faults.crashing import LOST, STOPPED
from faults.desk import Desk, desk
from faults.killer import Killer, killer
from faults.test_switch_crashes import (
    ACTOR,
    Before,
    Service,
    prepare_office,
    prepare_phone,
    started,
    switch_of,
)
from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.switching.deployments.model import DeploymentFilter, Outcome
from support.postgres import new_database
from support.records import a_mac
from support.scale import note, rounds

FEW = [
    "after the upload is verified",
    "before the rename",
    "after the FTP logout",
    "after the services are closed",
    "after the restart",
]
MORE = [
    "before the FTP connection",
    "after the FTP login",
    "during the upload",
    "after the upload",
    "after the rename",
    "after the new file is verified",
    "after leftovers are removed",
]
"""Points outside of transactions: a transaction that stands still blocks the other process."""
POINTS = FEW + MORE * (rounds(1, 2) - 1)


@pytest.fixture
async def outside(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "files") as it:
        yield it


@pytest.fixture(params=["sqlite", "postgres"])
async def environment(
    request: pytest.FixtureRequest, outside: Desk, tmp_path: Path
) -> AsyncIterator[dict[str, str]]:
    environment = {
        "PHONEPROV_DATA_DIR": str(tmp_path / "data"),
        "PHONEPROV_SECRET_KEYS": "the key of all the crashes of the tests",
        "PHONEPROV_MOST_PROFILES": "0",
        **outside.settings(),
    }
    if request.param == "sqlite":
        await prepare_office(environment)
        yield environment
        return
    async with new_database() as url:
        environment["PHONEPROV_DATABASE_URL"] = url
        await prepare_office(environment)
        yield environment


async def test_switch_that_stood_still_longer_than_its_lease_changes_nothing_more(
    outside: Desk, environment: dict[str, str]
) -> None:
    async with killer() as stop, started(environment) as service:
        for number, name in enumerate(POINTS):
            phone = await prepare_phone(service, outside, a_mac(number))
            await check_point(stop, service, outside, environment, phone, name)
    note(
        f"switch stopped at {len(POINTS)} points, another one follows: file, desk and record of one"
    )


async def check_point(
    stop: Killer,
    service: Service,
    outside: Desk,
    environment: dict[str, str],
    phone: Before,
    name: str,
) -> None:
    use_cases, database = service
    outside.becomes(phone.mac)
    order = switch_of(phone, {**environment, "PHONEPROV_RESTART": "http"}, name, stops=True)
    assert await stop(order) == STOPPED, name
    outside.forget(phone.file.name)  # its client stands still
    request = SwitchRequest(profile_uuid=phone.next.uuid, mac=phone.mac)
    async with asyncio.timeout(20):
        while True:
            try:
                await use_cases.switch_profile(ACTOR, request)
                break
            except PhoneBusy:
                await asyncio.sleep(0.05)
    commands = list(outside.commands)

    assert await stop.resume() == LOST, name

    assert outside.commands == commands, name
    assert phone.file.read_bytes() == (phone.next.cnf_xml or "").encode(), name
    async with database.read() as tx:
        records = await tx.deployments.matching(DeploymentFilter(mac=phone.mac)).rows(10)
        current = await tx.deployments.current(phone.mac)
        used = await tx.desks.find(phone.mac)
    assert [one.outcome for one in records] == [Outcome.INTERRUPTED, Outcome.DEPLOYED], name
    assert current is not None
    assert current.profile_uuid == phone.next.uuid, name
    assert (used.profile_uuid, used.change_uuid) == (phone.next.uuid, None), name
