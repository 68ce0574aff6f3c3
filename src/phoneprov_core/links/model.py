"""Links between users and extensions, and their views."""

from __future__ import annotations

from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.extensions.model import Extension, ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import (
    CreatedAt,
    ExtensionNumber,
    RecordUuid,
    UserUuid,
    Uuid,
    schema,
)
from phoneprov_core.kernel.store import Rows, Store
from phoneprov_core.users.model import FirstName, LastName, LoginName
from phoneprov_core.users.ports import UserStore

NameOfExtension = Annotated[
    str, schema(description="Name of the extension", examples=["Front desk"])
]


ExtensionUuid = Annotated[Uuid, schema(description="UUID of the extension")]


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


class NewLink(Command, frozen=True, kw_only=True):
    """A link to be created."""

    user_uuid: UserUuid
    extension_uuid: ExtensionUuid


class LinkStore(Protocol):
    """Links, at most one between a user and an extension. A link is deleted with its user and with
    its extension. Lists have the current data of users and extensions; each piece is one query."""

    async def add(self, link: Link) -> None:
        """Raises ``Conflict`` (code ``already_exists``, with ``extension_uuid``) if the two are
        linked, ``NotFound`` if the user or the extension does not exist."""

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


class LinksTransaction(Protocol):
    """Stores that the use cases of links use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
