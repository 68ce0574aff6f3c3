"""Where profiles and their revisions are stored."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.kernel.store import SearchedRows, Store
from phoneprov_core.profiles.model import Profile, ProfileRecord, Revision


class RevisionStore(Protocol):
    """The revisions of profiles, each with its configuration. They go with their profile."""

    async def add(self, revision: Revision, cnf_xml: str) -> None:
        """Raises ``Conflict`` (code ``already_exists``) when the profile has a revision of this
        number, ``NotFound`` when the profile is gone."""
        ...

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        """The revision, or None."""
        ...

    async def newest(self, profile_uuid: str) -> Revision | None:
        """The revision with the largest number, or None for no such profile."""
        ...

    async def cnf_xml(self, uuid: str) -> str | None:
        """The exact configuration of the revision with this uuid, or None."""
        ...

    async def remove_oldest(self, profile_uuid: str, most: int) -> int:
        """Remove the oldest revisions of a profile until ``most`` are left; how many were
        removed.

        It keeps the newest, and those that are needed: what a running deployment or a batch
        that has not ended brings, what is on a phone now, and what was on it before, back to
        the third other revision (two of them may hold the same text).
        """
        ...

    async def count(self, owner: str | None = None) -> int:
        """How many there are, or how many belong to the profile ``owner``."""
        ...

    async def rows(
        self,
        limit: int,
        *,
        after: Revision | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[Revision]:
        """At most ``limit`` revisions, by number, then uuid, beginning behind ``after``, then
        leaving out ``offset``; only those that belong to the profile ``owner`` if given."""
        ...


class WholeProfileStore(SearchedRows[Profile], Protocol):
    """Profiles with the configuration of their newest revision, to read. A profile without a
    revision is not among them."""

    async def find(self, key: str) -> Profile | None:
        """The profile, or None."""
        ...


class ProfilesTransaction(Protocol):
    """What profiles are kept in. A profile goes with its user."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def whole_profiles(self) -> WholeProfileStore: ...
    @property
    def revisions(self) -> RevisionStore: ...
