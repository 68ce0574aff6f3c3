"""A batch in a random office does what its rehearsal says, for the same reasons."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.composition import twin
from phoneprov_adapters.composition.rehearsal import without_secrets
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.rehearsal.process import Scene, copied
from phoneprov_adapters.sql.stores.people import audit
from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.batches.use_cases import selected
from phoneprov_core.features.rehearsal.model import Evidence, Rehearsal
from phoneprov_core.kernel.values import timestamp
from support.past import RandomOffice
from support.scale import LONG

ONCE = {"The disk is full.", "The connection was lost."}
"""Faults of one moment: they are expected to repeat."""


async def rehearsed(office: RandomOffice, new: CreateBatch, macs: list[str], at: Path) -> Rehearsal:
    variables = {"PHONEPROV_DATA_DIR": str(at), "PHONEPROV_CONFIRM_TIMEOUT": "0"}
    async with office.database.read() as tx:
        keys = tx.twin.keys
    settings = without_secrets(read_settings(variables))
    scene = Scene(settings, office.clock(), office.root, new, macs, keys)
    calls: dict[str, Any] = {}
    rows = [one async for one in copied(office.database, scene, calls)]
    return await asyncio.to_thread(twin.rehearse, scene, iter(rows), lambda: calls)


async def an_order(office: RandomOffice, moments: list[str]) -> CreateBatch:
    chance = office.random
    fields: dict[str, Any] = {"location": chance.choice(["Floor 3", "2nd floor"])}
    match chance.randrange(4):
        case 0:
            fields |= {"as_of": chance.choice(moments), "location": None}
        case 1:
            fields |= {"profile_uuid": office.a_text().uuid, "only_changed": True}
        case 2:
            macs = {(await office.a_phone()).mac for _ in range(5)}
            lines = [
                BatchTarget(mac=mac, profile_uuid=office.a_text().uuid) for mac in sorted(macs)
            ]
            fields = {"items": tuple(lines)}
    return CreateBatch(action="switch", stop_after_failures=None, wait_minutes=1, **fields)


@pytest.mark.parametrize("seed", range(20 if LONG else 3))
async def test_outcomes_and_reasons_are_those_of_the_rehearsal(
    seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    office = RandomOffice(phones=14, seed=seed)
    monkeypatch.setattr(audit, "system_clock", office.clock)
    await office.open()
    moments = []
    for _ in range(100):
        await office.step()
        moments.append(timestamp(office.clock()))

    for _ in range(6):
        office.clock.advance(office.random.choice([0.001, 1, 3700]))
        new = await an_order(office, moments)
        pieces = selected(office.database.read, new, timestamp(office.clock()))
        macs = [mac async for piece in pieces for mac, _ in piece]
        if not macs:
            continue
        rehearsal = await rehearsed(office, new, macs, tmp_path)
        batch = await office.ended(await office.batches.start(office.root, new))

        real = {one.mac: one for one in await office.phones_of(batch)}
        assert real.keys() == {one.mac for one in rehearsal.foretold}
        for one in rehearsal.foretold:
            if one.evidence is not Evidence.NONE and one.message not in ONCE:
                words = {"done": "deployed", "left_out": "left_alone"}
                word = words.get(real[one.mac].state.value, real[one.mac].state.value)
                if "this configuration already" in (real[one.mac].message or ""):
                    word = "left_alone"
                assert (one.outcome.value, one.message) == (word, real[one.mac].message), one.mac
