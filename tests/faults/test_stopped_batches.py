"""A host that stands still in the middle of a batch for longer than its leases, while another host
takes the batch over: no phone is switched or restarted twice, neither before nor after the first
host continues."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faults import impatient
from faults.desk import Desk, desk
from faults.exchange import SOON, Exchange
from faults.rollout import device_of
from faults.served import Served
from faults.test_batch_crashes import Asked, file_of, over
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.switching.deployments.model import DeploymentFilter
from support.ami_stub import Say, event, raw
from support.phone_records import a_phone
from support.polling import until
from support.postgres import new_database
from support.records import a_mac
from support.scale import note

PHONES, AT_ONCE = 16, 4
CONFIRM_SECONDS = 20
"""The second host has to start within this time, also on a busy machine."""
MACS = [a_mac(number) for number in range(1, PHONES + 1)]


class Holding(Exchange):
    """While ``held`` is set, accepted restarts are carried out, and no reply to them is sent."""

    held = False

    def _usual(self, named: dict[str, str]) -> Say:
        say = super()._usual(named)
        return raw(b"") if self.held and named["Action"] == "SCCPDeviceRestart" else say


@dataclass
class Floor:
    """A floor of phones, one of two hosts that serve it, and the servers outside."""

    first: Served
    second: Served
    outside: Desk
    exchange: Holding
    token: str = ""
    uuid: str = ""

    async def begin(self, action: str) -> None:
        """Start a batch on the first host."""
        await asyncio.to_thread(self.first.start)
        self.token = await self.first.token()
        async with self.first.direct() as direct, direct.database.write() as tx:
            for number in range(1, PHONES + 1):
                fields = {"phone_ip": f"127.0.0.{number}", "location": "floor"}
                await tx.phones.add(a_phone(number, software_type="SCCP", **fields))
        async with self.first.line() as line:
            ask = Asked(line, self.token)
            new: dict[str, Any] = {"action": action, "location": "floor", "at_once": AT_ONCE}
            new["stop_after_failures"] = None  # what is not known counts like a failure
            if action == "switch":
                me = (await ask("GET", "/me"))["uuid"]
                profile = {"user_uuid": me, "name": "Floor", "cnf_xml": "<device/>"}
                new["profile_uuid"] = (await ask("POST", "/phone-profiles", profile))["uuid"]
            self.uuid = (await ask("POST", "/batches", new))["uuid"]

    async def stand_still(self) -> None:
        """Stop the first host outside of transactions: one would block the other host as long."""
        while True:
            self.first.tell(signal.SIGSTOP)
            try:
                async with (
                    asyncio.timeout(5),
                    self.first.direct() as direct,
                    direct.database.write(by=SYSTEM_ACTOR) as tx,
                ):
                    await tx.batches.find(self.uuid)
                return
            except (TimeoutError, Unavailable):
                self.first.tell(signal.SIGCONT)
                await asyncio.sleep(0.05)

    async def taken_over(self) -> dict[str, Any]:
        """The phones of the batch by MAC, after the second host finished it and the first one
        continued."""
        for name in map(file_of, MACS):
            self.outside.forget(name)  # its client stands still
        await asyncio.to_thread(self.second.start)
        async with self.second.line() as line:
            ask = Asked(line, self.token)
            await over(ask, self.uuid)
            phones = await ask("GET", f"/batches/{self.uuid}/phones")
            self.first.tell(signal.SIGCONT)
            await asyncio.sleep(impatient.LEASE_SECONDS + 2)  # it notices the silence of Asterisk
            assert await ask("GET", f"/batches/{self.uuid}/phones") == phones
        return {phone["mac"]: phone for phone in phones}

    def check_nothing_was_sent_twice(self, uploads: int) -> None:
        assert [self.outside.uploads[file_of(mac)] for mac in MACS] == [uploads] * PHONES
        assert [self.exchange.restarts[device_of(mac)] for mac in MACS] == [1] * PHONES
        assert self.outside.leftovers() == []


@pytest.fixture(params=["sqlite", "postgres"])
async def floor(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Floor]:
    async with AsyncExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite+aiosqlite:///{tmp_path / 'shared.db'}"
        else:
            url = await stack.enter_async_context(new_database())
        outside = await stack.enter_async_context(desk(tmp_path / "files"))
        exchange = await stack.enter_async_context(Holding())
        hosts = []
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
            make = partial(Served, tmp_path / name, url, command=impatient.COMMAND)
            host = await asyncio.to_thread(make)
            host.environment |= {**outside.settings(), **exchange.settings(CONFIRM_SECONDS)}
            stack.callback(host.kill)
            hosts.append(host)
        yield Floor(hosts[0], hosts[1], outside, exchange)


def by_state(phones: dict[str, Any]) -> Counter[str]:
    return Counter(phone["state"] for phone in phones.values())


async def repeatedly(say: Callable[[], Any]) -> None:
    while True:
        await say()
        await asyncio.sleep(0.2)


async def test_batch_of_a_host_that_stands_still_after_restarts_restarts_no_phone_twice(
    floor: Floor,
) -> None:
    exchange = floor.exchange
    exchange.held = True
    seen, missed = MACS[: AT_ONCE // 2], MACS[AT_ONCE // 2 : AT_ONCE]
    exchange.registers = lambda device: None if device in map(device_of, seen) else SOON
    await floor.begin("switch")
    await until(lambda: exchange.restarts.total() == AT_ONCE, 60)
    await floor.stand_still()
    exchange.held = False

    async def register() -> None:
        for mac in seen:
            fields = {"SCCPDevice": device_of(mac), "DeviceStatus": "REGISTERED"}
            await exchange.tell(event("DeviceStatus", **fields))

    registering = asyncio.create_task(repeatedly(register))
    try:
        phones = await floor.taken_over()
    finally:
        registering.cancel()

    floor.check_nothing_was_sent_twice(uploads=1)
    assert by_state(phones) == {"done": PHONES - len(missed), "unknown": len(missed)}
    assert {phones[mac]["state"] for mac in seen} == {"done"}
    assert all("may have been sent" in phones[mac]["message"] for mac in missed)
    async with floor.second.direct() as direct, direct.database.read() as tx:
        records = await tx.deployments.matching(DeploymentFilter()).rows(100)
    assert Counter(one.mac for one in records) == dict.fromkeys(MACS, 1)
    note(f"a host stood still in a batch of {PHONES}: {PHONES} restarts, none twice")


async def test_batch_of_a_host_that_stands_still_after_renames_uploads_no_file_twice(
    floor: Floor,
) -> None:
    floor.outside.verifying.clear()
    await floor.begin("switch")
    await until(lambda: floor.outside.uploads.total() == AT_ONCE, 60)
    await floor.stand_still()
    floor.outside.verifying.set()

    phones = await floor.taken_over()

    floor.check_nothing_was_sent_twice(uploads=1)
    assert by_state(phones) == {"done": PHONES}


async def test_restarts_of_a_host_that_stands_still_are_not_repeated(floor: Floor) -> None:
    floor.exchange.held = True
    await floor.begin("restart")
    await until(lambda: floor.exchange.restarts.total() == AT_ONCE, 60)
    await floor.stand_still()
    floor.exchange.held = False

    phones = await floor.taken_over()

    floor.check_nothing_was_sent_twice(uploads=0)
    assert by_state(phones) == {"done": PHONES - AT_ONCE, "unknown": AT_ONCE}
