"""Where links are kept, and how they are read together with what they link."""

from __future__ import annotations

from typing import Protocol, TypeVar

from phoneprov_core.extensions.model import Extension
from phoneprov_core.kernel.store import Store
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser
from phoneprov_core.users.ports import UserStore

E = TypeVar("E")


class LinkRows(Protocol[E]):
    """Links with what is told of their ends as it is now. A piece of them is one question
    to the database."""

    async def count(self, owner: str | None = None) -> int:
        """How many there are, or how many belong to ``owner``."""
        ...

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` links, oldest first (by creation, then uuid), beginning behind
        ``after``, then leaving out ``offset``; only those that belong to ``owner`` if given."""
        ...


class LinkStore(Protocol):
    """Links, at most one between a user and an extension. A link goes with its user and
    with its extension."""

    async def add(self, link: Link) -> None:
        """Raises ``Conflict`` (code ``already_exists``, naming ``extension_uuid``) when the two
        are linked, ``NotFound`` when the user or the extension does not exist."""
        ...

    async def remove(self, uuid: str) -> bool:
        """Whether there was one."""
        ...

    @property
    def full(self) -> LinkRows[FullLink]:
        """Links with both ends; they belong to their user."""
        ...

    @property
    def extensions(self) -> LinkRows[LinkedExtension]:
        """Links with their extension; they belong to their user."""
        ...

    @property
    def users(self) -> LinkRows[LinkedUser]:
        """Links with their user; they belong to their extension."""
        ...


class LinksTransaction(Protocol):
    """What links are kept in, and what they link."""

    @property
    def users(self) -> UserStore: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
