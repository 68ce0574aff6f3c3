"""Batches in memory."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from phoneprov_adapters.memory.kinds import BATCH_PHONES, BATCHES, KeptBatch, KeptPhone, phone_key
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.store import MemoryNewestRows, MemoryRows, part
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import Batch, BatchPhone, BatchState, Counts, PhoneState
from phoneprov_core.batches.ports import BatchStore
from phoneprov_core.batches.transitions import BatchItem, Hold, Transition, Turn
from phoneprov_core.kernel.errors import already_taken
from phoneprov_core.kernel.store import Rows


class MemoryBatches(MemoryNewestRows[KeptBatch, Batch], BatchStore):
    """Batches, by uuid."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, BATCHES, self._counted, owner=BATCHES.owner)

    async def add(self, batch: Batch) -> None:
        self._tables.add(BATCHES, KeptBatch(**msgspec.structs.asdict(batch)))

    async def add_phones(self, phones: Sequence[BatchItem]) -> None:
        for phone in phones:
            kept = KeptPhone(**msgspec.structs.asdict(phone))
            if self._tables.of(BATCH_PHONES).get(kept.key) is not None:
                raise already_taken("position", "position")
            self._tables.add(BATCH_PHONES, kept)

    async def find(self, key: str) -> Batch | None:
        kept = self._tables.of(BATCHES).get(key)
        return None if kept is None else self._counted(kept)

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> Rows[BatchPhone]:
        def matches(phone: KeptPhone, _owner: str | None) -> bool:
            is_wanted = wanted.state in {None, phone.state.value}
            return is_wanted and phone.position > (wanted.after or 0)

        return MemoryRows(
            self._tables,
            BATCH_PHONES,
            partial(part, BatchPhone),
            group=("batch_uuid", batch_uuid),
            matches=matches,
            place=lambda phone: (phone.position, "~"),
        )

    async def counts(self, batch_uuid: str) -> Counts:
        return self._counts(batch_uuid)

    def _counts(self, batch_uuid: str) -> Counts:
        found = {state.value: 0 for state in PhoneState}
        for phone in self._phones(batch_uuid):
            found[phone.state.value] += 1
        return Counts(**found, total=sum(found.values()))

    async def state(self, batch_uuid: str) -> BatchState | None:
        kept = self._tables.of(BATCHES).get(batch_uuid)
        return None if kept is None else kept.state

    async def change(
        self, batch_uuid: str, of: BatchState, to: BatchState, message: str | None
    ) -> bool:
        kept = self._tables.of(BATCHES).get(batch_uuid)
        if kept is None or kept.state is not of:
            return False
        self._put(kept, state=to, message=message)
        return True

    async def any_free(self) -> bool:
        return self._free() is not None

    async def take(self, holder: str, seconds: int) -> Hold | None:
        kept = self._free()
        if kept is None:
            return None
        self._put(kept, holder=holder, fence=kept.fence + 1, expires_at=self._in(seconds))
        return Hold(kept.uuid, holder, kept.fence + 1)

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        kept = self._held(hold)
        if kept is None or kept.ended_at is not None:
            return None
        self._put(kept, expires_at=self._in(seconds))
        return kept.state

    async def release(self, hold: Hold) -> None:
        kept = self._held(hold)
        if kept is not None:
            self._put(kept, expires_at=0)

    async def release_all(self) -> None:
        for kept in list(self._tables.of(BATCHES).group()):
            self._put(kept, expires_at=0)

    async def claim(self, hold: Hold, most: int, transition: Transition) -> list[Turn]:
        now = self._tables.clock()
        due = [
            phone
            for phone in self._phones(hold.batch_uuid)
            if phone.state is transition.of and phone.not_before <= now
        ]
        due.sort(key=lambda phone: (phone.not_before, phone.position))
        turns = [part(Turn, self._moved(phone, transition)) for phone in due[:most]]
        return sorted(turns, key=lambda turn: turn.position)

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        left = (
            part(Turn, phone)
            for phone in self._phones(hold.batch_uuid)
            if phone.state is PhoneState.RUNNING and phone.fence < hold.fence
        )
        return list(islice(left, most))

    async def move(self, turn: Turn, transition: Transition) -> bool:
        phone = self._tables.of(BATCH_PHONES).get(phone_key(turn.batch_uuid, turn.position))
        if phone is None or (phone.state, phone.fence) != (transition.of, turn.fence):
            return False
        self._moved(phone, transition)
        return True

    async def move_all(self, batch_uuid: str, transition: Transition) -> None:
        for phone in self._phones(batch_uuid):
            if phone.state is transition.of:
                self._moved(phone, transition)

    async def finish(self, hold: Hold, state: BatchState, now: str) -> bool:
        kept = self._held(hold)
        if kept is None or kept.ended_at is not None:
            return False
        counts = await self.counts(hold.batch_uuid)
        if counts.waiting or counts.running:
            return False
        self._put(kept, state=state, ended_at=now, expires_at=0)
        return True

    def _phones(self, batch_uuid: str) -> list[KeptPhone]:
        return list(self._tables.of(BATCH_PHONES).group(("batch_uuid", batch_uuid)))

    def _free(self) -> KeptBatch | None:
        now, batches = self._tables.clock(), self._tables.of(BATCHES).group(EVERY)
        free = (one for one in batches if one.ended_at is None and one.expires_at <= now)
        return next(free, None)

    def _held(self, hold: Hold) -> KeptBatch | None:
        kept = self._tables.of(BATCHES).get(hold.batch_uuid)
        if kept is None or (kept.holder, kept.fence) != (hold.holder, hold.fence):
            return None
        return kept if kept.expires_at > self._tables.clock() else None

    def _put(self, kept: KeptBatch, **changes: Any) -> None:
        self._tables.put(BATCHES, msgspec.structs.replace(kept, **changes))

    def _moved(self, phone: KeptPhone, transition: Transition) -> KeptPhone:
        changes = {**transition.sets, "state": transition.to}
        if transition.due_after is not None:
            changes["not_before"] = self._in(transition.due_after)
        moved = msgspec.structs.replace(phone, tries=phone.tries + transition.tries, **changes)
        self._tables.put(BATCH_PHONES, moved)
        return moved

    def _in(self, seconds: int) -> int:
        return self._tables.clock() + seconds * 1000

    def _counted(self, kept: KeptBatch) -> Batch:
        return part(Batch, msgspec.structs.replace(kept, phones=self._counts(kept.uuid)))
