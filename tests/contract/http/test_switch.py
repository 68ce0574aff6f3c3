"""Section 4.8 of the interface: the switch, with memory adapters for the network."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from phoneprov_adapters.memory.system import CountingIds
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.deployments.model import Deployment, Outcome, StepName
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support import api as support
from support.api import STRANGER, Api, Caller, error_of, opened_api
from support.records import identifier
from support.switch_rig import FILE, MAC, STARS, XML, World, a_desk_phone, a_profile_of, switch

data_of = partial(support.data_of, metadata=False)

UPLOAD = ("upload", "10.0.0.5", FILE, XML.encode())
CLEAR = ("phone", "10.0.0.5", ["Init:Services"])
RESTART = ("phone", "10.0.0.5", STARS)
DONE = {"profile": "Ada's", "mac": MAC, "restart": "ok"}


@asynccontextmanager
async def office(
    folder: Path, world: World, *, ami: bool = False, **environment: str
) -> AsyncIterator["Office"]:
    adapters = {**world.adapters(ami=ami), "new_id": CountingIds()}
    async with opened_api(folder, database_kind="memory", overrides=adapters, **environment) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        yield Office(api, world, admin, ada)


class Office:
    def __init__(self, api: Api, world: World, admin: Caller, ada: Caller) -> None:
        self.api, self.world, self.admin, self.ada = api, world, admin, ada

    async def deployments(self) -> list[Deployment]:
        async with self.api.database.read() as tx:
            found = [await tx.deployments.find(identifier(number)) for number in range(1, 60)]
        return [one for one in found if one is not None]

    async def session_of(self, mac: str = MAC) -> str | None:
        async with self.api.database.read() as tx:
            return (await tx.desks.find(mac)).user_uuid


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator["Office"]:
    async with office(tmp_path, World()) as opened:
        yield opened


async def uploading(desk: Office, caller: Caller, uuid: str) -> asyncio.Future[httpx.Response]:
    """A switch whose upload has started and waits for ``desk.world.gate``."""
    desk.world.gate.clear()
    request = asyncio.ensure_future(switch(caller, uuid))
    await desk.world.begun.wait()
    return request


async def test_switch_deploys_then_clears_then_restarts(desk: Office) -> None:
    await a_desk_phone(desk.admin)
    uuid = await a_profile_of(desk.ada)

    reply = await switch(desk.ada, uuid)

    assert data_of(reply, 200, "Profile switched") == DONE
    assert list(reply.json()["data"]) == ["profile", "mac", "restart"]
    assert desk.world.happened == [UPLOAD, CLEAR, RESTART]
    assert desk.world.files == {"10.0.0.5:21": {FILE: XML.encode()}}
    assert await desk.session_of() == desk.ada.uuid
    (recorded,) = await desk.deployments()
    assert (recorded.outcome, recorded.mac, recorded.profile_uuid) == (Outcome.DEPLOYED, MAC, uuid)
    assert [(step.name, step.ok) for step in recorded.steps] == [
        (StepName.UPLOAD, True),
        (StepName.CLEAR_SESSION, True),
        (StepName.RESTART, True),
    ]
    assert recorded.user_uuid == desk.ada.uuid
    assert recorded.ended_at is not None


@pytest.mark.parametrize(
    ("error", "status", "outcome"),
    [
        (Refused("The server said no."), 502, Outcome.FAILED),
        (TimedOut("Too slow."), 504, Outcome.FAILED),
        (Refused("The server is gone.", code=OUTCOME_UNKNOWN), 502, Outcome.UNKNOWN),
        (TimedOut("The server is gone.", code=OUTCOME_UNKNOWN), 504, Outcome.UNKNOWN),
    ],
)
async def test_switch_failed_upload_has_its_status_and_restarts_nothing(
    desk: Office, error: PhoneprovError, status: int, outcome: Outcome
) -> None:
    await a_desk_phone(desk.admin)
    uuid = await a_profile_of(desk.ada)
    desk.world.fail_next(error)

    reply = await switch(desk.ada, uuid)

    assert error_of(reply, status, error.code) == {}
    assert reply.json()["message"] == error.message
    assert [one[0] for one in desk.world.happened] == ["upload"]
    assert not any(desk.world.files.values())
    (failed,) = await desk.deployments()
    assert failed.outcome is outcome
    data_of(await switch(desk.ada, uuid))


@pytest.mark.parametrize("error", [TimedOut("The phone is silent."), Refused("It said 4.")])
async def test_switch_failed_restart_is_in_the_response(
    desk: Office, error: PhoneprovError
) -> None:
    await a_desk_phone(desk.admin)
    desk.world.phones.fail_at("Key:Settings", error)

    reply = await switch(desk.ada, await a_profile_of(desk.ada))

    assert data_of(reply, 200, "Profile switched") == {**DONE, "restart": error.message}
    assert desk.world.happened == [UPLOAD, CLEAR, RESTART]
    (recorded,) = await desk.deployments()
    assert (recorded.outcome, recorded.steps[2].ok) == (Outcome.DEPLOYED, False)


async def test_switch_without_address_is_conflict(desk: Office, tmp_path: Path) -> None:
    await a_desk_phone(desk.admin, phone_ip=None)
    far = await a_desk_phone(desk.admin, mac="00:1B:D4:00:00:01", phone_ip="93.184.216.34")
    uuid = await a_profile_of(desk.ada)

    error_of(await switch(desk.ada, uuid), 409, "no_address")
    error_of(await switch(desk.ada, uuid, far), 409, "address_not_allowed")

    assert {one[0] for one in desk.world.happened} == {"upload"}
    assert desk.world.files == {}


async def test_switch_known_mismatch_is_refused(desk: Office) -> None:
    await a_desk_phone(desk.admin)

    reply = await switch(desk.ada, await a_profile_of(desk.ada, compatible_models=["7941"]))

    assert error_of(reply, 409, "profile_does_not_fit") == {}
    assert desk.world.happened == []
    assert await desk.deployments() == []


async def test_switch_inactive_phone_is_refused(desk: Office) -> None:
    await a_desk_phone(desk.admin, is_active=False)

    error_of(await switch(desk.ada, await a_profile_of(desk.ada)), 409, "phone_inactive")

    assert desk.world.happened == []


async def test_switch_names_unknown_records_and_every_invalid_field(desk: Office) -> None:
    await a_desk_phone(desk.admin)
    uuid = await a_profile_of(desk.ada)
    path = "/phone-profiles/switch"

    for body in (
        {"profile_uuid": STRANGER, "mac": MAC},
        {"profile_uuid": uuid, "mac": "00:1B:D4:00:00:99"},
    ):
        error_of(await desk.ada.post(path, body), 404, "not_found")
    bad: list[tuple[Any, set[str]]] = [
        ({}, {"profile_uuid", "mac"}),
        ({"profile_uuid": None, "mac": None}, {"profile_uuid", "mac"}),
        ({"profile_uuid": uuid}, {"mac"}),
        ({"profile_uuid": uuid, "mac": "nonsense"}, {"mac"}),
        ({"profile_uuid": "7", "mac": MAC}, {"profile_uuid"}),
        ({"profile_uuid": uuid, "mac": MAC, "force": True}, {"force"}),
    ]
    for body, fields in bad:
        assert set(error_of(await desk.ada.post(path, body), 422, "invalid")) == fields
    assert desk.world.happened == []


async def test_switch_busy_phone_is_409_and_another_phone_succeeds(desk: Office) -> None:
    await a_desk_phone(desk.admin)
    other = await a_desk_phone(desk.admin, mac="00:1B:D4:00:00:01", phone_ip="10.0.0.6")
    uuid = await a_profile_of(desk.ada)
    under_way = await uploading(desk, desk.ada, uuid)

    async with asyncio.timeout(60):
        for _ in range(3):
            error_of(await switch(desk.admin, uuid), 409, "phone_busy")
    elsewhere = asyncio.ensure_future(switch(desk.ada, uuid, other))
    await asyncio.sleep(0.05)
    desk.world.gate.set()

    assert data_of(await under_way) == DONE
    assert data_of(await elsewhere)["mac"] == other
    assert data_of(await switch(desk.admin, uuid)) == DONE
    assert len(desk.world.uploads) == 3


async def test_switch_client_disconnected_is_completed(desk: Office) -> None:
    await a_desk_phone(desk.admin)
    uuid = await a_profile_of(desk.ada)
    under_way = await uploading(desk, desk.ada, uuid)

    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    error_of(await switch(desk.ada, uuid), 409, "phone_busy")
    desk.world.gate.set()
    await desk.api.container.tasks().drain(10)

    assert desk.world.happened == [UPLOAD, CLEAR, RESTART]
    (recorded,) = await desk.deployments()
    assert recorded.outcome is Outcome.DEPLOYED
    data_of(await switch(desk.ada, uuid))
