"""Removing old records in small transactions."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.rates import Rate
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis
from phoneprov_core.kernel.trail import Event
from phoneprov_core.retention.model import KeepDays, Kept, Moment, Place, Pruned, limits
from phoneprov_core.retention.ports import RetentionTransaction

PIECE = 500
"""Maximum number of records per transaction."""
ONE_BATCH = 1
"""Maximum number of batches per transaction: a batch may have ten thousand phones."""
EVERY = Rate(1, 6 * 3600 * 1000)
"""How often the records of one database are pruned in the background, by one process of all."""
_LONGEST = timedelta(hours=5)
_LONGEST_PAUSE = 1.0

Pause = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Prune:
    """Removes what is older than the settings say. Other transactions run between two pieces:
    each piece that removes something is followed by a pause as long as it took."""

    database: ReadAndWrite[RetentionTransaction]
    keep: KeepDays
    clock: Clock
    pause: Pause

    async def in_turn(self) -> list[Pruned] | None:
        """Prune, unless a process that uses this database did so within six hours; then None.
        Raises ``Unavailable``."""
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            wait = await tx.rates.add("retention", EVERY, millis(self.clock()))
        return None if wait else await self()

    async def __call__(self, *, dry_run: bool = False) -> list[Pruned]:
        """Prune now; returns the number of removed records per kind. With ``dry_run`` it changes
        nothing, and a revision counts only if no deployment names it now. If a kind fails, its
        error is reported and the other kinds are pruned."""
        now = self.clock()
        done = []
        for kind, before in limits(self.keep, now).items():
            count, message = 0, None
            try:
                async for removed in self._pieces(kind, before, dry_run=dry_run):
                    count += removed
                    if self.clock() - now > _LONGEST:
                        break
            except Unavailable as error:
                message = error.message
            done.append(Pruned(kind, count, message))
        return done

    async def _pieces(self, kind: Kept, before: Moment, *, dry_run: bool) -> AsyncIterator[int]:
        limit = ONE_BATCH if kind is Kept.BATCHES else PIECE
        after: Place | None = None
        while True:
            async with self.database.read() as tx:
                piece = await tx.retention.look(kind, before, limit, after=after)
            if piece is None:
                return
            if dry_run or not piece.removable:
                yield piece.removable
            else:
                began = self.clock()
                async with self.database.write(by=SYSTEM_ACTOR) as tx:
                    removed = await tx.retention.remove(kind, before, piece, after=after)
                    if removed:
                        fields = {"records": removed}
                        tx.trail.note(Event("retention.pruned", "retention", kind.value, fields))
                yield removed
                took = (self.clock() - began).total_seconds()
                await self.pause(min(_LONGEST_PAUSE, max(0.0, took)))
            after = piece.last
