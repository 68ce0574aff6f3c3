"""The rehearsal of a batch; it changes nothing."""

from dataclasses import dataclass

from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.ports import BatchesTransaction, NoPhones
from phoneprov_core.features.batches.use_cases import require_future, require_known, selected
from phoneprov_core.features.rehearsal.model import MOST_PHONES, Rehearsal, Stage, TooLarge
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, timestamp
from phoneprov_core.people.access import require_superadmin


@dataclass(frozen=True)
class RehearseBatch:
    """Runs a batch on a twin of the records. It requires level 0, as the batch does."""

    database: ReadAndWrite[BatchesTransaction]
    stage: Stage
    clock: Clock

    async def __call__(self, actor: Actor, new: CreateBatch) -> Rehearsal:
        """Raises like the start of the batch, ``TooLarge``, and ``Unavailable``."""
        require_superadmin(actor)
        require_future(new, self.clock)
        now = self.clock()
        async with self.database.read() as tx:
            await require_known(tx, new)
        macs: list[str] = []
        async for piece in selected(self.database.read, new, timestamp(now)):
            macs += (mac for mac, _ in piece)
            if len(macs) > MOST_PHONES:
                raise TooLarge
        if not macs:
            raise NoPhones
        return await self.stage(actor, new, macs, now)
