"""Key expansion modules: every account reads them, superadmins write them."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.access.rules import SharedWrite, require_shared_write
from phoneprov_core.kems.model import Kem, KemPatch, KemsTransaction, NewKem
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import applied, record_of
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.ids import NewId, known_id
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown


@dataclass(frozen=True)
class Kems:
    """Create, read, change and delete KEMs. A KEM may be created before its phone."""

    database: ReadAndWrite[KemsTransaction]
    shared_write: SharedWrite
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[Kem]:  # noqa: ARG002
        """Every KEM, oldest first."""
        return await listing(self.database.read, lambda tx: tx.kems, page)

    async def get(self, actor: Actor, uuid: str) -> Kem:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return found(await tx.kems.find(known_id(uuid)), "KEM")

    async def create(self, actor: Actor, new: NewKem) -> Kem:
        """Create a KEM."""
        require_shared_write(actor, self.shared_write)
        kem = record_of(Kem, new, uuid=self.new_id(), created_at=shown(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.kems.add(kem)
        return kem

    async def update(self, actor: Actor, uuid: str, patch: KemPatch) -> Kem:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            kem = found(await tx.kems.find(known_id(uuid)), "KEM")
            kem = applied(kem, patch)
            await tx.kems.put(kem)
        return kem

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            found(await tx.kems.remove(known_id(uuid)), "KEM")
