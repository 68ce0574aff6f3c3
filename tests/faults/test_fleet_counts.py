"""A fleet with planted faults, watched by three hosts of which two are killed: what is counted is
what was planted, everywhere.

``PHONEPROV_TESTS=long`` has 5,000 phones in real time, the ordinary run 100 in a thirtieth of it.
"""

import asyncio
import functools
import hashlib
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from faults import watching
from faults.desk import Desk, desk
from faults.exchange import Exchange
from faults.phones import LOAD, MODEL, Phones, host
from faults.served import Served
from faults.test_batch_crashes import file_of
from phoneprov_adapters.simulator.web import WebPhone
from phoneprov_core.switching.deployments.model import Outcome
from support.ami_stub import failure, listing
from support.command_line import PROGRAM, output_of, without_settings
from support.phone_records import a_deployment, a_phone
from support.polling import until
from support.postgres import new_database
from support.records import a_mac, a_user
from support.scale import note, rounds

PHONES, TIMES = rounds((100, 30), (5000, 1))
MINUTE, MINUTES, LONGEST = 60 / TIMES, 2, rounds(60, 1200)
TOKEN = "a service token of Prometheus"
OLD, NEW = "SCCP45.8-5-4S", "SCCP45.9-9-9S"
KINDS: dict[str, tuple[str, ...]] = {
    "off": ("unreachable",),
    "off, and its file changed": ("unreachable", "file_changed"),
    "other phone": ("foreign",),
    "other model": ("wrong_model",),
    "other model, and its file changed": ("wrong_model", "file_changed"),
    "other load": ("wrong_model",),
    "load that did not arrive": ("wrong_load",),
    "not registered": ("unregistered",),
    "never there": ("never_seen",),
    "no address": ("never_seen",),
    "file changed": ("file_changed",),
    "file missing": ("file_changed",),
    "web server off": ("fine",),
    "inactive": (),
}
"""Planted faults, and the states that they are to be seen as, the worst first; none for a phone
that does not count. All other phones are fine."""


def planted(number: int) -> str:
    return dict(enumerate(KINDS)).get(number % 25, "none")


class Fleet:
    """The phones, the exchange and the file server outside. Phones that are to be ``off`` are there
    at first, to be seen."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.numbers, self.is_off = folder, range(1, PHONES + 1), False
        self.phones = Phones(self.answer)

    def of(self, number: int) -> tuple[str, ...]:
        kind = planted(number)
        if kind.startswith("off") and not self.is_off:
            return ("file_changed",) if "file" in kind else ("fine",)
        return KINDS.get(kind, ("fine",))

    def states(self) -> Counter[str]:
        return Counter(state for number in self.numbers for state in self.of(number))

    def answer(self, number: int) -> WebPhone | None:
        kind = planted(number)
        if kind in {"never there", "web server off"} or (self.is_off and kind.startswith("off")):
            return None
        changes = {"other phone": {"mac": a_mac(900_000 + number)}, "other load": {"load": OLD}}
        change = {"model": "CP-8841"} if kind.startswith("other model") else changes.get(kind, {})
        return WebPhone(
            **{"mac": a_mac(number), "model": MODEL, "load": LOAD, "name": "", **change}
        )

    def registered(self, action_id: str) -> bytes:
        gone = ("not registered", "never there", *(["off"] if self.is_off else []))
        devices = (
            ("SCCPDeviceEntry", {"Mac": file_of(a_mac(number)).partition(".")[0], "RegState": "OK"})
            for number in self.numbers
            if not planted(number).startswith(gone)
        )
        return listing("SCCPShowDevicesComplete", *devices)(action_id)

    async def fill(self, served: Served) -> None:
        """Phones with a deployment each, and their files as they are on the server."""
        async with served.direct() as direct, direct.database.write() as tx:
            await tx.users.add(a_user(901))  # the owner of what is on the phones
            for number in self.numbers:
                kind, mac = planted(number), a_mac(number)
                ip = None if kind == "no address" else host(number)
                fields = {"phone_ip": ip, "is_active": kind != "inactive", "software_type": "SCCP"}
                phone = a_phone(number, model=MODEL, software_version=LOAD, **fields)
                await tx.phones.add(phone)
                content = f"<device>{number:06}</device>".encode()
                deployed = a_deployment(
                    number, mac, sha256=hashlib.sha256(content).hexdigest(), size=len(content),
                    filename=file_of(mac), place="x", outcome=Outcome.DEPLOYED,
                    created_at="2026-01-31T10:00:00.000Z",
                    load=NEW if kind.startswith("load") else None,
                )  # fmt: skip
                await tx.deployments.add(deployed)
                if "file changed" in kind:
                    content = content.replace(b"device", b"Device")
                if kind != "file missing":
                    (self.folder / file_of(mac)).write_bytes(content)


@contextmanager
def watcher(served: Served, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``phoneprov watch`` on a host of its own."""
    folder.mkdir()
    environment = served.environment | {"PHONEPROV_DATA_DIR": str(folder)}
    command = [sys.executable, str(watching.__file__), str(TIMES), "watch", "--minutes", "2"]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, env=without_settings(**environment), stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Fleet, Served, Desk, Exchange]]:
    async with new_database() as url, Exchange() as exchange, desk(folder / "files") as outside:
        fleet = Fleet(folder / "files")
        exchange.answers["SCCPShowDevices"] = fleet.registered
        for action in ("PJSIPShowEndpoints", "PJSIPShowContacts"):
            exchange.answers[action] = failure("Unknown command")
        port = str(await fleet.phones.start("0.0.0.0", 0))  # noqa: S104 - of every phone
        served = await asyncio.to_thread(Served, folder, url)
        served.environment |= outside.settings() | exchange.settings(1)
        served.environment |= {"PHONEPROV_METRICS_TOKEN": TOKEN, "PHONEPROV_PHONE_HTTP_PORT": port}
        try:
            await asyncio.to_thread(served.start)
            await fleet.fill(served)
            yield fleet, served, outside, exchange
        finally:
            served.kill()
            await fleet.phones.close()


async def test_counted_states_are_the_planted_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as (fleet, served, outside, exchange):
        token, asked = await served.token(), fleet.phones.asked

        async def numbers() -> Any:
            async with served.line() as line:
                return (await line.ask("GET", "/fleet", token=token)).data

        async def become() -> None:
            async def are_so() -> bool:
                return bool((await numbers())["states"] == fleet.states())

            with suppress(TimeoutError):
                await until(are_so, LONGEST)
            assert (await numbers())["states"] == fleet.states()

        hosts = [tmp_path / name for name in "abc"]
        with watcher(served, hosts[0]) as first, watcher(served, hosts[1]) as second:
            await become()
            fleet.is_off = True
            begun = sum(map(len, asked.values()))
            await until(lambda: sum(map(len, asked.values())) > begun + PHONES // 4, LONGEST)
            first.kill()
            with watcher(served, hosts[2]):
                await become()
                second.kill()  # one of the two looked
                # While neither the file server nor the exchange answers.
                await outside.server.close()
                await exchange.stop()
                number = next(one for one in fleet.numbers if planted(one) == "none")
                most = len(asked[number]) + 1
                await until(lambda: len(asked[number]) > most, LONGEST)
                await become()
        async with served.line() as line:
            await check_each_place(fleet, served, lambda path: line.ask("GET", path, token=token))
    check_pauses(asked)


async def check_each_place(fleet: Fleet, served: Served, ask: Any) -> None:
    """The API, the command and the metrics name the planted phones."""
    sizes, numbers = fleet.states(), (await ask("/fleet")).data
    active = sum(1 for number in fleet.numbers if fleet.of(number))
    assert (numbers["states"], numbers["phones"]) == (sizes, active)
    for state in sizes:
        with_it = [number for number in fleet.numbers if state in fleet.of(number)]
        macs = {a_mac(number) for number in with_it}
        assert {one["mac"] for one in (await ask(f"/phones?state={state}")).data} == macs, state
        one = (await ask(f"/phones/{a_mac(with_it[0])}/state")).data
        states = fleet.of(with_it[0])
        assert (one["state"], tuple(one["states"]), one["message"][-1]) == (states[0], states, ".")
        assert (one["next_step"] is None) == (state == "fine")
    settings: Any = served.environment
    command = functools.partial(output_of, *PROGRAM, "fleet", **settings)
    assert json.loads(await asyncio.to_thread(command, "--json")) == numbers
    shown = re.findall(r"(state) +(\w+) +(\d+)", await asyncio.to_thread(command))
    assert {state: int(count) for _, state, count in shown} == sizes
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}") as client:
        metrics = await client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    found = re.findall(r'phoneprov_fleet\{state="(\w+)"\} ([\d.]+)', metrics.text)
    assert {state: int(float(count)) for state, count in found} == sizes


def check_pauses(asked: dict[int, list[float]]) -> None:
    """No phone was asked more often than once a minute by all hosts together, and the requests of a
    round were spread."""
    assert not [one for one in asked if planted(one) in {"inactive", "no address"}]
    pairs = itertools.chain.from_iterable(map(itertools.pairwise, asked.values()))
    pause = min(after - before for before, after in pairs)
    assert pause > MINUTE * rounds(0.8, 0.99)
    moments = Counter(int(at / MINUTE * 10) for times in asked.values() for at in times)
    most = max(moments.values()) * MINUTES * 10 / PHONES
    assert most < rounds(PHONES, 4), moments
    note(
        f"a fleet of {PHONES} phones, three hosts: {moments.total()} requests, at least "
        f"{pause:.1f} s between two to one phone, at most {most:.1f} times as dense as evenly"
    )
