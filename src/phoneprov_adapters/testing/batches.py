"""Batches for a database under test."""

from __future__ import annotations

from typing import Any

import msgspec

from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    Counts,
    PhoneState,
)
from phoneprov_core.batches.transitions import BatchItem, Hold, Turn, claimed, ended
from phoneprov_core.stores import Database

NOW = moment(50)


def a_batch(number: int, **changes: Any) -> Batch:
    """A running batch without phones; larger numbers are created later."""
    batch = Batch(
        uuid=identifier(number),
        action=BatchAction.SWITCH,
        profile_uuid=None,
        profile_name=None,
        revision=None,
        model=None,
        location=None,
        software_type=None,
        at_once=10,
        per_minute=None,
        stop_after_failures=25,
        wait_minutes=60,
        user_uuid=identifier(900),
        state=BatchState.RUNNING,
        message=None,
        created_at=moment(number),
        ended_at=None,
        phones=Counts(),
    )
    return msgspec.structs.replace(batch, **changes)


async def add_batch(database: Database, batch: Batch, phones: int) -> None:
    """Store a batch with the phones of the numbers from 1."""
    items = [
        BatchItem(batch.uuid, n, a_mac(n), identifier(10_000 + n)) for n in range(1, phones + 1)
    ]
    async with database.write() as tx:
        await tx.batches.add(batch)
        await tx.batches.add_phones(items)


async def find_batch(database: Database, number: int) -> Batch | None:
    """The batch of this number, or None."""
    async with database.read() as tx:
        return await tx.batches.find(identifier(number))


async def batch_phones(database: Database, number: int = 1) -> list[BatchPhone]:
    """Every phone of a batch."""
    async with database.read() as tx:
        return await tx.batches.phones(identifier(number), WantedPhones()).rows(1000)


async def take(database: Database, holder: str = "me", seconds: int = 60) -> Hold:
    """Acquire a batch; there must be a free one."""
    hold = await take_if_any(database, holder, seconds)
    assert hold is not None
    return hold


async def take_if_any(database: Database, holder: str = "me", seconds: int = 60) -> Hold | None:
    """Acquire a batch, or None if none is free."""
    async with database.write() as tx:
        return await tx.batches.take(holder, seconds)


async def claim(database: Database, hold: Hold, most: int) -> list[Turn]:
    """Extend the lease of a batch and claim phones, as a worker does."""
    async with database.write() as tx:
        if await tx.batches.keep(hold, 60) is None:
            return []
        return await tx.batches.claim(hold, most, claimed(hold, NOW))


async def end(
    database: Database, turn: Turn, state: PhoneState = PhoneState.DONE, **more: Any
) -> bool:
    """Record the result of a phone; False if the claim is no longer valid."""
    async with database.write() as tx:
        return await tx.batches.move(turn, ended(state, moment(51), **more))
