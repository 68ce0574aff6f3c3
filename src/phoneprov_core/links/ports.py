"""Store ports for links and for links with their users and extensions."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.extensions.model import Extension
from phoneprov_core.kernel.store import Rows, Store
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser
from phoneprov_core.users.ports import UserStore


class LinkStore(Protocol):
    """Links, at most one between a user and an extension. A link is deleted with its user and with
    its extension. Lists have the current data of users and extensions; each piece is one query."""

    async def add(self, link: Link) -> None:
        """Raises ``Conflict`` (code ``already_exists``, with ``extension_uuid``) if the two are
        linked, ``NotFound`` if the user or the extension does not exist."""
        ...

    async def remove(self, uuid: str) -> bool:
        """Remove the link; False if it does not exist."""
        ...

    @property
    def full(self) -> Rows[FullLink]:
        """Links with both ends; the user is their owner."""
        ...

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        """Links with their extension; the user is their owner."""
        ...

    @property
    def users(self) -> Rows[LinkedUser]:
        """Links with their user; the extension is their owner."""
        ...


class LinksTransaction(Protocol):
    """Stores that the use cases of links use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
