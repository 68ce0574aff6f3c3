"""The lease of a phone in the hands of its holder: here alone its fence is compared."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from phoneprov_core.deployments.errors import LeaseLost
from phoneprov_core.deployments.ports import LeaseStore
from phoneprov_core.devices.ports import LeasedTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, Pause

LOOK_SECONDS = 2.0
"""Deadline of a look at a lease; after it the clock of this host decides."""

RETRY_SECONDS = 1.0
"""Pause before a write is tried again that the database did not take."""

MOST_TRIES = 600
"""So often it is tried: longer than a lease lasts, as long as no other holder follows."""

R = TypeVar("R")


class LeasesTransaction(Protocol):
    """The one store that a holder needs."""

    @property
    def leases(self) -> LeaseStore: ...


TX = TypeVar("TX", bound=LeasesTransaction)


@dataclass(frozen=True)
class Holding(Generic[TX]):
    """A lease that was acquired. ``until`` is when it expires by the clock of this host, which
    decides only while the database is away: a process may stand still at any moment, and another
    holder may have followed when it continues."""

    database: ReadAndWrite[TX]
    clock: Clock
    mac: str
    holder: str
    fence: int
    until: datetime

    @asynccontextmanager
    async def write(self, actor: Actor, *, even_expired: bool = False) -> AsyncIterator[TX]:
        """A writing transaction of the holder; no other acquires the phone until it ends. Raises
        ``LeaseLost``; with ``even_expired`` only if another holder followed."""
        async with self.database.write(by=actor) as tx:
            await self._compare(tx, even_expired=even_expired)
            yield tx

    async def look(self, tx: LeasedTransaction | None = None) -> None:
        """Look at the lease before a command that cannot be taken back, in the caller's
        transaction if there is one. Raises ``LeaseLost``."""
        if tx is not None:
            await self._compare(tx)
            return
        try:
            async with asyncio.timeout(LOOK_SECONDS), self.database.read() as reading:
                await self._compare(reading)
        except (Unavailable, TimeoutError):
            self.require_time()

    def require_time(self) -> None:
        """Raises ``LeaseLost`` if the lease has expired by the clock of this host."""
        if self.clock() >= self.until:
            raise LeaseLost

    async def _compare(self, tx: LeasedTransaction, *, even_expired: bool = False) -> None:
        is_held = await tx.leases.is_held(
            self.mac, self.holder, self.fence, even_expired=even_expired
        )
        if not is_held:
            raise LeaseLost


async def persistently(
    write: Callable[[], Awaitable[R]], pause: Pause, tries: int = MOST_TRIES
) -> R:
    """The result of a write, which is repeated while the database is away. To be repeated, it must
    find out whether an earlier try was committed. Raises ``Unavailable`` after the last one."""
    for _ in range(tries - 1):
        try:
            return await write()
        except Unavailable:
            await pause(RETRY_SECONDS)
    return await write()
