"""A killed switch leaves the phone's file old or new, never in part; a killed save leaves the
profile and its revisions old or new."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from faults.crashing import POINTS, SAVES, Order
from faults.desk import Desk, desk
from faults.killer import Killer, killer
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.application import UseCases
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import (
    CreateProfile,
    Profile,
    ProfilePatch,
    SwitchRequest,
)
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.switching.deployments.model import Confirmation, Deployment, DeploymentFilter
from phoneprov_core.switching.devices.names import config_filename
from support.records import a_mac, a_user, identifier
from support.scale import note, rounds

OWNER = identifier(1)
ACTOR = Actor(OWNER, SUPERADMIN)
Service = tuple[UseCases, Any]
OLD = b"<device>the old one</device>"


def text(mark: str) -> str:
    """A configuration of several segments."""
    return f"<device><a>{mark * 40_000}</a></device>"


@asynccontextmanager
async def started(environment: Mapping[str, str]) -> AsyncIterator[Service]:
    """The use cases and the database of a service in this process."""
    container = prepare(read_settings(environment))
    async with running(container):
        use_cases = container.use_cases()
        yield use_cases, container.database()


@pytest.fixture
async def outside(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "files") as it:
        yield it


@pytest.fixture
async def environment(outside: Desk, tmp_path: Path) -> dict[str, str]:
    """The settings of services with an existing database and one account."""
    environment = {
        "PHONEPROV_DATA_DIR": str(tmp_path / "data"),
        "PHONEPROV_SECRET_KEYS": "the key of all the crashes of the tests",
        "PHONEPROV_MOST_PROFILES": "0",  # two a crash
        **outside.settings(),
    }
    await prepare_office(environment)
    return environment


async def test_switch_and_save_killed_at_any_step_are_recovered(
    outside: Desk, environment: dict[str, str]
) -> None:
    async with killer() as kill:
        await kill_during_switches(kill, outside, environment)
        await kill_during_saves(kill, environment)


async def kill_during_switches(kill: Killer, outside: Desk, environment: dict[str, str]) -> None:
    times = rounds(1, 20)
    places = [(name, turn) for turn in range(times) for name in POINTS]
    macs = [a_mac(number) for number in range(1, len(places) + 1)]
    async with started(environment) as service:
        whole = await prepare_phone(service, outside, a_mac(0))
        before = await prepare_phone(service, outside, macs[0])
    # An order that is not killed succeeds; the crashes below differ from it.
    outside.becomes(whole.mac)
    assert await kill(switch_of(whole, environment)) == 0
    assert whole.file.read_bytes() == (whole.new.cnf_xml or "").encode()
    for number, (name, _) in enumerate(places):
        await killed_at(kill, outside, environment, name, before)
        async with started(environment) as service:
            await check_repair(service, outside, name, before)
            if number + 1 < len(places):
                before = await prepare_phone(service, outside, macs[number + 1])
    note(
        f"switch killed at {len(POINTS)} points, {times} times each: the file old or new and "
        "complete; recorded at the next start, the phone free; no temporary file remains"
    )


async def kill_during_saves(kill: Killer, environment: dict[str, str]) -> None:
    times = rounds(1, 20)
    for name in [*SAVES] * times:
        async with started(environment) as (use_cases, _):
            new = CreateProfile(user_uuid=OWNER, name=name, cnf_xml=text("old"))
            profile = await use_cases.profiles.create(ACTOR, new)
        order = Order(
            point=name,
            environment=environment,
            user_uuid=OWNER,
            profile_uuid=profile.uuid,
            cnf_xml=text("new"),
        )
        assert await kill(order) == -signal.SIGKILL, name
        async with started(environment) as service:
            is_there = 2 if SAVES[name].new else 1
            expected = [text("old"), text("new")][:is_there]
            assert await revisions(service, profile.uuid) == expected, name
            # From here on the next start behaves as usual.
            patch = ProfilePatch(cnf_xml=text("next"))
            await service[0].profiles.update(ACTOR, profile.uuid, patch)
            assert await revisions(service, profile.uuid) == [*expected, text("next")], name
    note(f"save killed at {len(SAVES)} points, {times} times each: stored completely or not at all")


async def revisions(service: Service, profile_uuid: str) -> list[str | None]:
    """The texts of the revisions of a profile, oldest first; the profile has the newest."""
    use_cases, database = service
    async with database.read() as tx:
        rows = await tx.revisions.rows(10, owner=profile_uuid)
        contents = [await tx.revisions.content(revision.uuid) for revision in rows]
    texts = [content and content.text for content in contents]
    assert [revision.number for revision in rows] == [*range(1, len(rows) + 1)]
    assert (await use_cases.profiles.get(ACTOR, profile_uuid)).cnf_xml == texts[-1]
    return texts


async def prepare_office(environment: dict[str, str]) -> None:
    settings = read_settings(environment)
    prepare(settings)
    await create_database(settings)
    async with started(environment) as (_, database), database.write() as tx:
        await tx.users.add(a_user(1))


class Before(NamedTuple):
    """A phone with the old file, a profile whose switch is killed, and the next profile."""

    mac: str
    file: Path
    new: Profile
    next: Profile


async def prepare_phone(service: Service, outside: Desk, mac: str) -> Before:
    use_cases, _ = service
    file = outside.folder / config_filename("SEP{MAC}.cnf.xml", mac)
    await asyncio.to_thread(file.write_bytes, OLD)
    await use_cases.phones.create(ACTOR, CreatePhone(mac=mac, phone_ip="127.0.0.1"))
    new, next_one = [
        await use_cases.profiles.create(
            ACTOR, CreateProfile(user_uuid=OWNER, name=mark, cnf_xml=text(mark))
        )
        for mark in ("new", "next")
    ]
    return Before(mac, file, new, next_one)


def switch_of(
    phone: Before, environment: dict[str, str], point: str = "", *, stops: bool = False
) -> Order:
    return Order(
        stops=stops,
        point=point,
        environment=environment,
        user_uuid=OWNER,
        profile_uuid=phone.new.uuid,
        mac=phone.mac,
    )


async def killed_at(
    kill: Killer, outside: Desk, environment: dict[str, str], name: str, phone: Before
) -> None:
    environment = {**environment, "PHONEPROV_RESTART": "http"}
    outside.becomes(phone.mac)
    assert await kill(switch_of(phone, environment, name)) == -signal.SIGKILL, name

    outside.forget(phone.file.name)
    expected = (phone.new.cnf_xml or "").encode() if POINTS[name].new else OLD
    assert phone.file.read_bytes() == expected, name


async def check_repair(service: Service, outside: Desk, name: str, phone: Before) -> None:
    """Start the service again, and switch the phone."""
    use_cases, database = service
    async with database.read() as tx:
        records = await tx.deployments.matching(DeploymentFilter(mac=phone.mac)).rows(10_000)
    check_records(name, records)
    request = SwitchRequest(profile_uuid=phone.next.uuid, mac=phone.mac)
    assert (await use_cases.switch_profile(ACTOR, request)).profile == "next", name
    async with database.read() as tx:
        assert (await tx.desks.find(phone.mac)).user_uuid == OWNER, name
    assert phone.file.read_bytes() == (phone.next.cnf_xml or "").encode(), name
    assert outside.leftovers() == [], name


def check_records(name: str, records: list[Deployment]) -> None:
    """The record of the killed switch, as the next start finds it."""
    point = POINTS[name]
    outcome = point.outcome
    assert [record.outcome.value for record in records] == ([outcome] if outcome else []), name
    for record in records:
        assert record.ended_at, name
        if point.knows is not None:
            assert (record.place is not None) is point.knows, name
        if outcome == "deployed":
            # The watch ended with its process; after its deadline the record says so.
            assert record.confirmation is Confirmation.PENDING, name
            later = record.as_of("9999-12-31T23:59:59.999Z")
            assert later.confirmation is Confirmation.NOT_CONFIRMED, name
