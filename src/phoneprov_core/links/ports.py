"""Store ports for links and for links with their users and extensions."""

from __future__ import annotations

from typing import Protocol, TypeVar

from phoneprov_core.extensions.model import Extension
from phoneprov_core.kernel.store import Store
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser
from phoneprov_core.users.ports import UserStore

E = TypeVar("E")


class LinkRows(Protocol[E]):
    """Links with the current data of their users or extensions. Each piece is one query."""

    async def count(self, owner: str | None = None) -> int:
        """Number of links, or of those that belong to ``owner``."""
        ...

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` links, oldest first (by creation, then uuid), starting after ``after``,
        without the first ``offset``; only those that belong to ``owner`` if given."""
        ...


class LinkStore(Protocol):
    """Links, at most one between a user and an extension. A link is deleted with its user and with
    its extension."""

    async def add(self, link: Link) -> None:
        """Raises ``Conflict`` (code ``already_exists``, with ``extension_uuid``) if the two are
        linked, ``NotFound`` if the user or the extension does not exist."""
        ...

    async def remove(self, uuid: str) -> bool:
        """Remove the link; False if it does not exist."""
        ...

    @property
    def full(self) -> LinkRows[FullLink]:
        """Links with both ends; the user is their owner."""
        ...

    @property
    def extensions(self) -> LinkRows[LinkedExtension]:
        """Links with their extension; the user is their owner."""
        ...

    @property
    def users(self) -> LinkRows[LinkedUser]:
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
