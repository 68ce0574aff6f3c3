"""Links between users and extensions, managed by superadmins."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import AlreadyExists, Conflict, Problem, found
from phoneprov_core.kernel.ids import NewId, known_id
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.links.model import (
    FullLink,
    Link,
    LinkedExtension,
    LinkedUser,
    LinksTransaction,
    NewLink,
)


@dataclass(frozen=True)
class Links:
    """Create, read and delete links; every use case requires level 0."""

    database: ReadAndWrite[LinksTransaction]
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[FullLink]:
        """Every link, oldest first."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: tx.links.full, page)

    async def of_user(
        self, actor: Actor, user_uuid: str, page: Page = None
    ) -> Listing[LinkedExtension]:
        """The extensions of one user. Raises ``NotFound`` if the user does not exist."""
        require_superadmin(actor)
        owner = known_id(user_uuid)
        async with self.database.read() as tx:
            found(await tx.users.find(owner), "user")
        return await listing(self.database.read, lambda tx: tx.links.extensions, page, owner=owner)

    async def of_extension(
        self, actor: Actor, extension_uuid: str, page: Page = None
    ) -> Listing[LinkedUser]:
        """The users of one extension. Raises ``NotFound`` if the extension does not exist."""
        require_superadmin(actor)
        owner = known_id(extension_uuid)
        async with self.database.read() as tx:
            found(await tx.extensions.find(owner), "extension")
        return await listing(self.database.read, lambda tx: tx.links.users, page, owner=owner)

    async def create(self, actor: Actor, new: NewLink) -> FullLink:
        """Raises ``NotFound`` if the user or the extension does not exist; ``Conflict`` if they are
        linked already."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            user = found(await tx.users.find(new.user_uuid), "user")
            extension = found(await tx.extensions.find(new.extension_uuid), "extension")
            link = Link(self.new_id(), user.uuid, extension.uuid, shown(self.clock()))
            try:
                await tx.links.add(link)
            except Conflict:
                raise _linked_already() from None
        return FullLink(
            uuid=link.uuid,
            user_uuid=user.uuid,
            extension_uuid=extension.uuid,
            username=user.username,
            first_name=user.first_name,
            last_name=user.last_name,
            extension=extension.extension,
            ext_name=extension.name,
            type=extension.type,
            created_at=link.created_at,
        )

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Delete the link, not the user and the extension. Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            found(await tx.links.remove(known_id(uuid)), "link")


def _linked_already() -> AlreadyExists:
    problem = Problem("extension_uuid", "is linked to this user already")
    return AlreadyExists("This user has this extension already.", problems=(problem,))
