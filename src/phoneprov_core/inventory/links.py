"""Links between users and extensions, and their views; managed by superadmins."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.inventory.extensions import ExtensionsTransaction, ExtensionType
from phoneprov_core.kernel.actor import Actor, require_people, require_superadmin
from phoneprov_core.kernel.commands import Command, record_of
from phoneprov_core.kernel.errors import AlreadyExists, Conflict, Problem, require
from phoneprov_core.kernel.fields import (
    CreatedAt,
    ExtensionNumber,
    RecordUuid,
    UserUuid,
    Uuid,
    schema,
)
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, Rows, listing
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.users.model import FirstName, LastName, LoginName
from phoneprov_core.people.users.use_cases import UserStore

NameOfExtension = Annotated[str, schema("Name of the extension", examples=["Front desk"])]

ExtensionUuid = Annotated[Uuid, schema("UUID of the extension")]


class Link(Struct, frozen=True):
    """A link: a user has an extension. Both may have many links."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    created_at: CreatedAt


class FullLink(Struct, frozen=True):
    """A link with its user and its extension."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    username: LoginName
    first_name: FirstName
    last_name: LastName
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: CreatedAt


class LinkedExtension(Struct, frozen=True):
    """A link with its extension."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: CreatedAt


class LinkedUser(Struct, frozen=True):
    """A link with its user."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    username: LoginName
    first_name: FirstName
    last_name: LastName
    created_at: CreatedAt


class CreateLink(Command, frozen=True, kw_only=True):
    """A link to be created."""

    user_uuid: UserUuid
    extension_uuid: ExtensionUuid


class LinkStore(Protocol):
    """Links, at most one between a user and an extension. A link is deleted with its user and with
    its extension. Lists have the current data of users and extensions; each piece is one query."""

    async def add(self, link: Link) -> None:
        """Raises ``Conflict`` (code ``already_exists``, with ``extension_uuid``) if the two are
        linked, ``NotFound`` if the user or the extension does not exist."""

    async def find(self, key: str) -> Link | None:
        """The link, or None."""

    async def remove(self, uuid: str) -> bool:
        """Remove the link; False if it does not exist."""

    @property
    def full(self) -> Rows[FullLink]:
        """Links with both ends; the user is their owner."""

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        """Links with their extension; the user is their owner."""

    @property
    def users(self) -> Rows[LinkedUser]:
        """Links with their user; the extension is their owner."""


class LinksTransaction(ExtensionsTransaction, Protocol):
    """Stores that the use cases of links use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def links(self) -> LinkStore: ...


@dataclass(frozen=True)
class Links:
    """Create, read and delete links. The right helpdesk reads them; every other use case requires
    level 0."""

    database: ReadAndWrite[LinksTransaction]
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[FullLink]:
        """Every link, oldest first."""
        require_people(actor)
        return await listing(self.database.read, lambda tx: tx.links.full, page)

    async def of_user(
        self, actor: Actor, user_uuid: str, page: Page = None
    ) -> Listing[LinkedExtension]:
        """The extensions of one user. Raises ``NotFound`` if the user does not exist."""
        require_people(actor)
        owner = known_id(user_uuid)
        async with self.database.read() as tx:
            require(await tx.users.find(owner), "user")
        return await listing(self.database.read, lambda tx: tx.links.extensions, page, owner=owner)

    async def of_extension(
        self, actor: Actor, extension_uuid: str, page: Page = None
    ) -> Listing[LinkedUser]:
        """The users of one extension. Raises ``NotFound`` if the extension does not exist."""
        require_people(actor)
        owner = known_id(extension_uuid)
        async with self.database.read() as tx:
            require(await tx.extensions.find(owner), "extension")
        return await listing(self.database.read, lambda tx: tx.links.users, page, owner=owner)

    async def create(self, actor: Actor, new: CreateLink) -> FullLink:
        """Raises ``NotFound`` without user or extension; ``Conflict`` if they are linked."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            user = require(await tx.users.find(new.user_uuid), "user")
            extension = require(await tx.extensions.find(new.extension_uuid), "extension")
            link = Link(self.new_id(), user.uuid, extension.uuid, timestamp(self.clock()))
            try:
                await tx.links.add(link)
            except Conflict:
                problem = Problem("extension_uuid", "is linked to this user already")
                message = "This user has this extension already."
                raise AlreadyExists(message, problems=(problem,)) from None
        return record_of(
            FullLink,
            link,
            username=user.username,
            first_name=user.first_name,
            last_name=user.last_name,
            extension=extension.extension,
            ext_name=extension.name,
            type=extension.type,
        )

    async def delete(self, actor: Actor, uuid: str) -> Link:
        """Delete the link, not its ends; the link as it was. Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            link = require(await tx.links.find(known_id(uuid)), "link")
            await tx.links.remove(link.uuid)
        return link
