"""Batches in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.records import EVERY, Kind, OnRemove, Reference, Unique
from phoneprov_adapters.memory.store import newest
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.batches.model import (
    Batch,
    BatchEntry,
    BatchPhone,
    BatchState,
    Counts,
    Hold,
    PhoneState,
    Turn,
    WantedPhones,
)
from phoneprov_core.batches.ports import BatchPhones, BatchStore
from phoneprov_core.kernel.errors import already_taken

Millis = Callable[[], int]


class KeptBatch(Struct, frozen=True):
    """A batch, its holder, and the end of the lease."""

    uuid: str
    created_at: str
    user_uuid: str
    batch: Batch
    holder: str = ""
    fence: int = 0
    expires_at: int = 0


class KeptPhone(Struct, frozen=True):
    """A phone of a batch with its claim."""

    key: str
    batch_uuid: str
    position: int
    mac: str
    phone: BatchPhone
    attempt_uuid: str
    fence: int = 0
    cut_off: int = 0
    not_before: int = 0
    waiting_since: str | None = None


BATCHES: Kind[KeptBatch] = Kind("batch", found_by=("user_uuid",))
BATCH_PHONES: Kind[KeptPhone] = Kind(
    "phone of a batch",
    key="key",
    created="position",
    references=(Reference("batch_uuid", BATCHES, OnRemove.GO_ALONG),),
    unique=(Unique("mac", "mac", lambda one: (one.batch_uuid, one.mac)),),
)


def _key(batch_uuid: str, position: int) -> str:
    return f"{batch_uuid}|{position:010}"


class MemoryBatchPhones(BatchPhones):
    """The phones of one batch that match the filter."""

    def __init__(self, tables: Tables, batch_uuid: str, wanted: WantedPhones) -> None:
        self._tables = tables
        self._batch_uuid = batch_uuid
        self._wanted = wanted

    async def count(self, owner: str | None = None) -> int:
        assert owner is None, "the phones of a batch have no owner"
        return sum(1 for _ in self._matching(0))

    async def rows(
        self,
        limit: int,
        *,
        after: BatchPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[BatchPhone]:
        assert owner is None, "the phones of a batch have no owner"
        start = self._matching(0 if after is None else after.position)
        return list(islice(start, offset, offset + limit))

    async def page(self, limit: int, after: int) -> list[BatchPhone]:
        return list(islice(self._matching(after), limit))

    def _matching(self, after: int) -> Iterator[BatchPhone]:
        position = (after, _key(self._batch_uuid, after))
        for kept in self._tables.of(BATCH_PHONES).group(("batch_uuid", self._batch_uuid), position):
            if self._wanted.state in {None, kept.phone.state.value}:
                yield kept.phone


class MemoryBatches(BatchStore):
    """Batches, by uuid."""

    def __init__(self, tables: Tables, clock: Millis) -> None:
        self._tables = tables
        self._clock = clock

    async def add(self, batch: Batch) -> None:
        bare = msgspec.structs.replace(batch, phones=Counts())
        self._tables.add(BATCHES, KeptBatch(batch.uuid, batch.created_at, batch.user_uuid, bare))

    async def add_phones(self, batch_uuid: str, entries: Sequence[BatchEntry]) -> None:
        for entry in entries:
            phone = BatchPhone(
                entry.position, entry.mac, PhoneState.WAITING, 0, None, None, None, None
            )
            kept = KeptPhone(
                _key(batch_uuid, entry.position),
                batch_uuid,
                entry.position,
                entry.mac,
                phone,
                entry.attempt_uuid,
            )
            if self._tables.of(BATCH_PHONES).get(kept.key) is not None:
                raise already_taken("position", "position")
            self._tables.add(BATCH_PHONES, kept)

    async def find(self, key: str) -> Batch | None:
        kept = self._tables.of(BATCHES).get(key)
        return None if kept is None else await self._counted(kept.batch)

    async def count(self, owner: str | None = None) -> int:
        return self._tables.of(BATCHES).count(EVERY if owner is None else ("user_uuid", owner))

    async def rows(
        self, limit: int, *, after: Batch | None = None, offset: int = 0, owner: str | None = None
    ) -> list[Batch]:
        start = None if after is None else (after.created_at, after.uuid)
        group = EVERY if owner is None else ("user_uuid", owner)
        found = self._tables.of(BATCHES).group(group, start)
        return [
            await self._counted(kept.batch) for kept in list(islice(found, offset, offset + limit))
        ]

    async def newest(self, limit: int, *, before: Batch | None = None) -> list[Batch]:
        position = None if before is None else (before.created_at, before.uuid)
        found = newest(BATCHES, self._tables.of(BATCHES).group(), limit, position)
        return [await self._counted(kept.batch) for kept in found]

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> BatchPhones:
        return MemoryBatchPhones(self._tables, batch_uuid, wanted)

    async def counts(self, batch_uuid: str) -> Counts:
        found = {state.value: 0 for state in PhoneState}
        for kept in self._phones(batch_uuid):
            found[kept.phone.state.value] += 1
        return Counts(**found, total=sum(found.values()))

    async def halt(self, batch_uuid: str, state: BatchState, message: str | None) -> bool:
        kept = self._tables.of(BATCHES).get(batch_uuid)
        if kept is None or kept.batch.state is not BatchState.RUNNING:
            return False
        self._change(kept, state=state, message=message)
        for phone in self._phones(batch_uuid, PhoneState.WAITING):
            self._move(phone, state=PhoneState.LEFT_OUT)
        return True

    async def any_free(self) -> bool:
        return self._free() is not None

    async def take(self, holder: str, seconds: int) -> Hold | None:
        kept = self._free()
        if kept is None:
            return None
        until = self._clock() + seconds * 1000
        taken = msgspec.structs.replace(kept, holder=holder, fence=kept.fence + 1, expires_at=until)
        self._tables.put(BATCHES, taken)
        return Hold(kept.uuid, holder, taken.fence)

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        kept = self._held(hold)
        if kept is None or kept.batch.ended_at is not None:
            return None
        until = self._clock() + seconds * 1000
        self._tables.put(BATCHES, msgspec.structs.replace(kept, expires_at=until))
        return kept.batch.state

    async def release(self, hold: Hold) -> None:
        kept = self._held(hold)
        if kept is not None:
            self._tables.put(BATCHES, msgspec.structs.replace(kept, expires_at=0))

    async def release_all(self) -> None:
        for kept in list(self._tables.of(BATCHES).group()):
            self._tables.put(BATCHES, msgspec.structs.replace(kept, expires_at=0))

    async def claim(self, hold: Hold, most: int, now: str) -> list[Turn]:
        waiting = [
            phone
            for phone in self._phones(hold.batch_uuid, PhoneState.WAITING)
            if phone.not_before <= self._clock()
        ]
        waiting.sort(key=lambda phone: (phone.not_before, phone.position))
        for phone in waiting[:most]:
            tries = phone.phone.tries + 1
            held = msgspec.structs.replace(phone, fence=hold.fence)
            self._move(held, state=PhoneState.RUNNING, tries=tries, started_at=now, message=None)
        turns = [_turn(msgspec.structs.replace(one, fence=hold.fence)) for one in waiting[:most]]
        return sorted(turns, key=lambda turn: turn.position)

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        left = [
            _turn(phone)
            for phone in self._phones(hold.batch_uuid, PhoneState.RUNNING)
            if phone.fence < hold.fence
        ]
        return left[:most]

    async def end(
        self,
        turn: Turn,
        state: PhoneState,
        now: str,
        *,
        message: str | None = None,
        deployment_uuid: str | None = None,
    ) -> bool:
        phone = self._mine(turn)
        if phone is not None:
            self._move(
                phone, state=state, message=message, deployment_uuid=deployment_uuid, ended_at=now
            )
        return phone is not None

    async def put_back(self, turn: Turn, again: Turn, seconds: int, message: str | None) -> bool:
        phone, kept = self._mine(turn), self._tables.of(BATCHES).get(turn.batch_uuid)
        if phone is None or kept is None:
            return False
        runs = kept.batch.state is BatchState.RUNNING
        back = msgspec.structs.replace(
            phone,
            attempt_uuid=again.attempt_uuid,
            cut_off=again.cut_off,
            waiting_since=again.waiting_since,
            not_before=self._clock() + seconds * 1000,
        )
        state = PhoneState.WAITING if runs else PhoneState.LEFT_OUT
        self._move(back, state=state, message=message)
        return True

    async def finish(self, hold: Hold, now: str) -> bool:
        kept = self._held(hold)
        if kept is None or kept.batch.ended_at is not None:
            return False
        counts = await self.counts(hold.batch_uuid)
        if counts.waiting or counts.running:
            return False
        state = kept.batch.state
        done = BatchState.DONE if state is BatchState.RUNNING else state
        free = msgspec.structs.replace(kept, expires_at=0)
        self._change(free, state=done, ended_at=now)
        return True

    def _phones(self, batch_uuid: str, state: PhoneState | None = None) -> list[KeptPhone]:
        found = self._tables.of(BATCH_PHONES).group(("batch_uuid", batch_uuid))
        return [phone for phone in found if state in {None, phone.phone.state}]

    def _free(self) -> KeptBatch | None:
        now = self._clock()
        return next(
            (
                kept
                for kept in self._tables.of(BATCHES).group()
                if kept.batch.ended_at is None and kept.expires_at <= now
            ),
            None,
        )

    def _held(self, hold: Hold) -> KeptBatch | None:
        kept = self._tables.of(BATCHES).get(hold.batch_uuid)
        if kept is None or (kept.holder, kept.fence) != (hold.holder, hold.fence):
            return None
        return kept if kept.expires_at > self._clock() else None

    def _mine(self, turn: Turn) -> KeptPhone | None:
        phone = self._tables.of(BATCH_PHONES).get(_key(turn.batch_uuid, turn.position))
        if (
            phone is None
            or phone.phone.state is not PhoneState.RUNNING
            or phone.fence != turn.fence
        ):
            return None
        return phone

    def _change(self, kept: KeptBatch, **changes: object) -> None:
        batch = msgspec.structs.replace(kept.batch, **changes)
        self._tables.put(BATCHES, msgspec.structs.replace(kept, batch=batch))

    def _move(self, kept: KeptPhone, **changes: object) -> None:
        phone = msgspec.structs.replace(kept.phone, **changes)
        self._tables.put(BATCH_PHONES, msgspec.structs.replace(kept, phone=phone))

    async def _counted(self, batch: Batch) -> Batch:
        return msgspec.structs.replace(batch, phones=await self.counts(batch.uuid))


def _turn(phone: KeptPhone) -> Turn:
    return Turn(
        phone.batch_uuid,
        phone.position,
        phone.mac,
        phone.attempt_uuid,
        phone.fence,
        phone.cut_off,
        phone.waiting_since,
    )
