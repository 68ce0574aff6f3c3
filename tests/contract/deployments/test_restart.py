"""The restart of one phone over HTTP: who may, what is refused, and what the audit trail says."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Forbidden, Refused, TimedOut
from phoneprov_core.switching.errors import REPLY_LOST, LeaseLost
from support.api import data_of, error_of, opened_api
from support.office import MemoryCalls
from support.switch_rig import MAC, STARS, World, a_desk_phone

PATH, LOST = f"/phones/{MAC}/restart", "The phone did not confirm the command."


class Desk:
    """A phone at Berlin, a superadmin, and a helpdesk for Berlin."""

    def __init__(self, api: Any, world: World, calls: MemoryCalls) -> None:
        self.api, self.world, self.calls = api, world, calls

    async def fill(self) -> "Desk":
        self.admin = await self.api.account("admin", level=0)
        self.helper = await self.api.account("helper")
        self.right = f"/users/{self.helper.uuid}/rights"
        body = {"right": "helpdesk", "locations": ["Berlin"]}
        data_of(await self.admin.put(self.right, body), 200)
        await a_desk_phone(self.admin, location="Berlin/3")
        return self

    async def audited(self) -> list[Any]:
        found = data_of(await self.admin.get("/audit", resource_id=MAC, limit=50), 200)
        return [
            (one["action"].removeprefix("phone."), one["actor"], new_of(one, "right"),
             new_of(one, "result"))
            for one in reversed(found)
            if "restart" in one["action"]
        ]  # fmt: skip

    async def actor(self) -> Actor:
        actor: Actor = await self.api.container.authenticate()(self.helper.token)
        return actor


def new_of(entry: Any, field: str) -> Any:
    return entry["changes"].get(field, {}).get("new")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    world, calls = World(), MemoryCalls()
    adapters = {**world.adapters(), "hasher": PlainHasher(), "calls": calls}
    async with opened_api(tmp_path, database_kind=request.param, overrides=adapters) as api:
        yield await Desk(api, world, calls).fill()


async def test_restart_by_a_helpdesk_in_scope_restarts_the_phone_and_changes_no_file(
    desk: Desk,
) -> None:
    reply = data_of(await desk.helper.post(PATH, None), 200, "Phone restarted")
    assert reply == {"mac": MAC}
    assert desk.world.happened == [("phone", "10.0.0.5", STARS)]
    assert await desk.audited() == [
        ("restart_requested", "helper", "helpdesk", None),
        ("restarted", "helper", "helpdesk", "ok"),
    ]
    data_of(await desk.admin.post(PATH, None), 200)  # the lease was released
    assert data_of(await desk.admin.get("/deployments"), 200) == []


async def test_restart_out_of_scope_or_of_a_phone_in_no_state_for_it_sends_nothing(
    desk: Desk,
) -> None:
    async def put(fields: Any) -> None:
        data_of(await desk.admin.put(f"/phones/{MAC}", fields), 200)

    error_of(await desk.helper.post("/phones/001bd4999999/restart", None), 404, "not_found")
    error_of(await (await desk.api.account("ada")).post(PATH, None), 403, "forbidden")
    await put({"location": "Bonn"})
    error_of(await desk.helper.post(PATH, None), 403, "forbidden")
    await put({"location": "Berlin", "is_active": False})
    error_of(await desk.helper.post(PATH, None), 409, "phone_inactive")
    await put({"is_active": True, "phone_ip": None})
    error_of(await desk.helper.post(PATH, None), 409, "no_address")
    desk.calls.talking = {MAC}
    error_of(await desk.helper.post(PATH, None), 409, "phone_in_call")
    assert desk.world.happened == []
    [_, failed] = await desk.audited()
    assert failed[0] == "restarted"
    assert "phone_ip" in failed[3]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Refused("It said no."), 502, "refused"),
        (TimedOut("It said nothing."), 504, "timed_out"),
        (Refused(LOST, code=REPLY_LOST), 504, REPLY_LOST),
        (TimedOut(LOST, code=REPLY_LOST), 504, REPLY_LOST),
        (OSError(5, "secret"), 504, REPLY_LOST),
        (LeaseLost(), 504, "outcome_unknown"),
    ],
)
@pytest.mark.parametrize("desk", ["memory"], indirect=True)
async def test_restart_that_fails_or_is_not_known_is_said_and_audited_so(
    desk: Desk, fault: Any, status: int, code: str
) -> None:
    desk.world.phones.fail_at(STARS[0], fault)
    reply = await desk.helper.post(PATH, None)
    error_of(reply, status, code)
    said = reply.json()["message"]
    assert "secret" not in said
    assert [one[3] for one in await desk.audited()] == [None, said]
    desk.world.phones.fail_at(STARS[0], Conflict("later", code="no_restart"))
    error_of(await desk.helper.post(PATH, None), 409, "no_restart")  # the lease was released


async def test_right_or_scope_that_ended_since_the_request_was_authenticated_restarts_nothing(
    desk: Desk,
) -> None:
    restart, actor = desk.api.container.restart_phone(), await desk.actor()
    asked = asyncio.Event()
    in_call = desk.calls.in_call

    async def moved_meanwhile(phone: Any) -> bool:
        """The phone leaves the scope after the scope was looked at."""
        if not asked.is_set():
            asked.set()
            data_of(await desk.admin.put(f"/phones/{MAC}", {"location": "Bonn"}), 200)
        return await in_call(phone)

    desk.calls.in_call = moved_meanwhile  # type: ignore[method-assign]
    with pytest.raises(Forbidden, match="at Bonn"):
        await restart(actor, MAC)
    data_of(await desk.admin.put(f"/phones/{MAC}", {"location": "Berlin"}), 200)
    data_of(await desk.admin.delete(desk.right), 200)
    with pytest.raises(Forbidden):
        await restart(actor, MAC)
    assert desk.world.happened == []
    assert await desk.audited() == []


async def test_restart_goes_to_the_address_that_the_phone_has_once_it_is_held(desk: Desk) -> None:
    in_call = desk.calls.in_call

    async def moved_meanwhile(phone: Any) -> bool:
        data_of(await desk.admin.put(f"/phones/{MAC}", {"phone_ip": "10.0.0.6"}), 200)
        return await in_call(phone)

    desk.calls.in_call = moved_meanwhile  # type: ignore[method-assign]
    data_of(await desk.helper.post(PATH, None), 200)
    assert desk.world.happened == [("phone", "10.0.0.6", STARS)]


async def test_phone_that_is_switched_is_not_restarted_and_the_other_way_round(desk: Desk) -> None:
    leases = desk.api.database
    async with leases.write() as tx:
        fence = await tx.leases.take(MAC, "another", 60)
    error_of(await desk.helper.post(PATH, None), 409, "phone_busy")
    async with leases.write() as tx:
        assert fence is not None
        await tx.leases.release(MAC, "another", fence)
    held, go_on = asyncio.Event(), asyncio.Event()
    execute = desk.world.phones.execute

    async def slow(*args: Any, **more: Any) -> None:
        held.set()
        await go_on.wait()
        await execute(*args, **more)

    desk.world.phones.execute = slow  # type: ignore[method-assign]
    running = asyncio.ensure_future(desk.helper.post(PATH, None))
    await held.wait()
    error_of(await desk.admin.post(PATH, None), 409, "phone_busy")
    go_on.set()
    data_of(await running, 200)


async def test_restart_whose_lease_another_holder_took_sends_nothing(desk: Desk) -> None:
    execute = desk.world.phones.execute

    async def after_a_standstill(*args: Any, **more: Any) -> None:
        async with desk.api.database.write() as tx:
            holder = await tx.leases.holder(MAC)
            assert holder is not None
            await tx.leases.release(MAC, holder, 1)
            await tx.leases.take(MAC, "another", 60)
        await execute(*args, **more)

    desk.world.phones.execute = after_a_standstill  # type: ignore[method-assign]
    reply = await desk.helper.post(PATH, None)
    error_of(reply, 504, "timed_out")
    assert "Nothing was sent" in reply.json()["message"]
    assert desk.world.happened == []
    async with desk.api.database.read() as tx:
        assert await tx.leases.holder(MAC) == "another"


@pytest.mark.parametrize("desk", ["memory"], indirect=True)
async def test_restarts_of_one_phone_have_the_limit_of_switches(desk: Desk) -> None:
    for _ in range(30):
        data_of(await desk.helper.post(PATH, None), 200)
    error_of(await desk.helper.post(PATH, None), 429, "too_many_switches")
    data_of(await desk.admin.post(PATH, None), 200)
