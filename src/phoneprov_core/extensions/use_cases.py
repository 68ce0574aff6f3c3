"""Extensions, managed by superadmins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.extensions.model import Extension, ExtensionPatch, ExtensionSearch, NewExtension
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import applied, record_of
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.ids import NewId, known_id
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite, SearchedStore, selected
from phoneprov_core.kernel.times import Clock, shown


class ExtensionsTransaction(Protocol):
    """Stores that the use cases of extensions use. Numbers are unique; removing an extension
    removes its links to users."""

    @property
    def extensions(self) -> SearchedStore[Extension]: ...


@dataclass(frozen=True)
class Extensions:
    """Create, read, change and delete extensions; every use case requires level 0."""

    database: ReadAndWrite[ExtensionsTransaction]
    clock: Clock
    new_id: NewId

    async def all(
        self,
        actor: Actor,
        page: Page = None,
        wanted: ExtensionSearch | None = None,
    ) -> Listing[Extension]:
        """Every extension, oldest first."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: selected(tx.extensions, wanted), page)

    async def get(self, actor: Actor, uuid: str) -> Extension:
        """Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return found(await tx.extensions.find(known_id(uuid)), "extension")

    async def create(self, actor: Actor, new: NewExtension) -> Extension:
        """Raises ``Conflict`` if the number is in use."""
        require_superadmin(actor)
        now = shown(self.clock())
        extension = record_of(
            Extension,
            new,
            uuid=self.new_id(),
            created_at=now,
            created_by=actor.user_uuid,
            updated_at=now,
            updated_by=None,
            created_ip=actor.ip,
            updated_ip=actor.ip,
        )
        async with self.database.write(by=actor) as tx:
            await tx.extensions.add(extension)
        return extension

    async def update(self, actor: Actor, uuid: str, patch: ExtensionPatch) -> Extension:
        """Raises ``NotFound``; ``Conflict`` if the number is in use."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            extension = found(await tx.extensions.find(known_id(uuid)), "extension")
            extension = applied(
                extension,
                patch,
                updated_at=shown(self.clock()),
                updated_by=actor.user_uuid,
                updated_ip=actor.ip,
            )
            await tx.extensions.put(extension)
        return extension

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Delete an extension and its links to users. Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            found(await tx.extensions.remove(known_id(uuid)), "extension")
