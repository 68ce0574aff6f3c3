"""Rollouts to many simulated phones of which some do not return, return late, or refuse, and whose
files are on a slow server: what reached each phone is counted beside the records.

``PHONEPROV_TESTS=long`` has 2,000 phones, the ordinary run 40.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from faults.desk import desk
from faults.exchange import SOON, Exchange
from faults.rollout import Rollout, device_of
from faults.served import Served
from faults.test_batch_crashes import file_of, over
from support.polling import until
from support.records import a_mac
from support.scale import note, rounds

PHONES, FIRST = rounds((40, 5), (2000, 20))
CONFIRM_SECONDS = rounds(2, 20)
LATE, TOO_LATE = CONFIRM_SECONDS / 4, 3 * CONFIRM_SECONDS
REFUSES = -1.0


def behaviours(refusing_of_100: int) -> dict[str, float | None]:
    """The planted failures, by device: seconds until it registers, None for never. The first phones
    have none."""
    planted: dict[str, float | None] = {}
    for number in range(FIRST + 1, PHONES + 1):
        turn = number % 20 if refusing_of_100 <= 5 else 7
        if turn in {1, 2, 3} or (refusing_of_100 > 5 and number % 100 < refusing_of_100):
            seconds = {1: None, 2: LATE, 3: TOO_LATE}.get(turn, REFUSES)
            planted[device_of(a_mac(number))] = seconds
        elif turn == 4:
            planted[device_of(a_mac(number))] = REFUSES
    return planted


@asynccontextmanager
async def prepared(served: Served, folder: Path) -> AsyncIterator[Rollout]:
    """A fleet whose phones have the old configuration; 1 of 20 files is on a slow server."""
    async with desk(folder / "files") as outside, Exchange() as exchange:
        served.environment |= {**outside.settings(), **exchange.settings(CONFIRM_SECONDS)}
        served.environment["PHONEPROV_FTP_TIMEOUT"] = "15"
        await asyncio.to_thread(served.start)
        rollout = Rollout(served, outside, exchange, PHONES, FIRST)
        await rollout.prepare()
        outside.pause = 0.0
        slow = range(5, PHONES + 1, 20)
        outside.pauses = {file_of(a_mac(number)): rounds(0.2, 1.0) for number in slow}
        yield rollout


async def ended(rollout: Rollout) -> tuple[Any, Any, list[Any]]:
    """Wait for the end: the batch, the one that undoes it, and the deployments."""
    async with rollout.asking() as ask:
        batch = await over(ask, rollout.uuid)
        phones = await ask("GET", f"/batches/{rollout.uuid}/phones")
        batch["why"] = Counter((one["state"], one["message"]) for one in phones)
        undo = batch["undone_by"] and await over(ask, batch["undone_by"])
        records = await ask("GET", "/deployments")
    return batch, undo, [one for one in records if one["uuid"] not in rollout.earlier]


async def test_failures_of_the_rest_are_counted_and_reach_no_other_phone(
    service: Served, tmp_path: Path
) -> None:
    async with prepared(service, tmp_path) as rollout:
        planted = behaviours(5)
        rollout.exchange.registers = lambda device: planted.get(device, SOON)
        await rollout.begin(at_once=50)
        batch, undo, _ = await ended(rollout)

        async def decided() -> Any:
            _, _, records = await ended(rollout)
            return all(one["confirmation"] != "pending" for one in records) and records

        records = await until(decided, 3 * CONFIRM_SECONDS + 30)
    kinds = Counter(planted.values())
    refused = kinds[REFUSES]
    assert (batch["state"], undo) == ("done", None), batch
    counts = batch["phones"]["done"], batch["phones"]["failed"]
    assert counts == (PHONES - refused, refused), batch["why"]
    missed = kinds[None] + kinds[TOO_LATE]
    assert Counter(one["confirmation"] for one in records) == Counter(
        confirmed=PHONES - missed - refused, not_confirmed=missed, none=refused
    ), Counter(one["confirmation_message"] for one in records)
    _check_each_phone_once(rollout, planted)
    name = f"{service.name}: a rollout to {PHONES} phones"
    note(f"{name} with {len(planted)} planted failures: {kinds}")


def _check_each_phone_once(rollout: Rollout, planted: dict[str, float | None]) -> None:
    new = {name: text.replace(b"old", b"new") for name, text in rollout.before.items()}
    assert rollout.files() == new
    assert set(rollout.outside.uploads.values()) == {1}
    refused = {device for device, seconds in planted.items() if seconds == REFUSES}
    restarted = rollout.exchange.restarts
    assert set(restarted.values()) == {1}
    assert len(restarted) == PHONES - len(refused)
    assert not refused & set(restarted)


@pytest.mark.parametrize(
    "why", rounds(["too many refuse"], ["a first phone is missed", "too many refuse"])
)
async def test_stopped_rollout_gives_each_changed_phone_back_what_was_there(
    service: Served, tmp_path: Path, why: str
) -> None:
    async with prepared(service, tmp_path) as rollout:
        planted = behaviours(60) if why == "too many refuse" else {device_of(a_mac(2)): None}
        rollout.exchange.registers = lambda device: planted.get(device, SOON)
        await rollout.begin(at_once=5)
        await rollout.restarted(FIRST)
        if why == "a first phone is missed":
            rollout.exchange.registers = lambda _device: SOON
        batch, undo, records = await ended(rollout)
    assert batch["state"] == "stopped"
    assert rollout.files() == rollout.before
    uploads = rollout.outside.uploads
    counts = batch["phones"]
    changed = counts["done"] + counts["failed"]
    assert (len(uploads), set(uploads.values())) == (changed, {2})
    assert undo["phones"]["done"] + undo["phones"]["failed"] == undo["phones"]["total"] == changed
    assert counts["left_out"] == PHONES - changed
    assert Counter(one["action"] for one in records) == {"switch": changed, "rollback": changed}
    if why == "a first phone is missed":
        assert changed == FIRST
    name = f"{service.name}: a rollout to {PHONES} phones"
    note(f"{name} stopped because {why}: {changed} changed and undone")
