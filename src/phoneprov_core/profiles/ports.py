"""Store ports for profiles and their revisions."""

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.store import Rows, SearchedRows, Store
from phoneprov_core.profiles.model import Content, Profile, ProfileRecord, Revision
from phoneprov_core.templates.ports import TemplateStore


class RevisionStore(Rows[Revision], Protocol):
    """The revisions of profiles, each with its content. They are deleted with their profile,
    which is their owner. Lists are by number, then uuid."""

    async def add(self, revision: Revision, content: str, *, by_level_0: bool = False) -> None:
        """Raises ``Conflict`` (code ``already_exists``) if the profile has a revision of this
        number, ``NotFound`` if the profile does not exist."""

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        """The revision, or None."""

    async def newest(self, profile_uuid: str) -> Revision | None:
        """The revision with the largest number, or None if the profile does not exist."""

    async def content(self, uuid: str) -> Content | None:
        """The exact content of the revision with this uuid, or None."""

    async def remove_oldest(self, profile_uuid: str, most: int) -> int:
        """Remove the oldest revisions of a profile until ``most`` are left; returns the number of
        removed revisions.

        Keeps the newest revision and those that are needed: by a running deployment, by a batch
        that has not ended, as the current revision of a phone, as one of the three other
        revisions that were on that phone before (two of them may have the same text), or as what
        a rollback of a phone deploys again. At most 100 phones of a revision are examined for
        the last reason; a revision for which that does not decide is kept.
        """


class WholeProfileStore(SearchedRows[Profile], Protocol):
    """Read access to profiles with the configuration of their newest revision. Profiles without a
    revision are not included."""

    async def find(self, key: str) -> Profile | None:
        """The profile, or None."""


class DesksOfProfiles(Protocol):
    """The part of desks that profiles use."""

    async def with_default(self, profile_uuid: str) -> list[str]:
        """The MACs of desks with this default profile, locked."""

    async def end_lines(self, owner_uuid: str, profile_uuid: str) -> None:
        """Take the lines of the owner of a profile from phones where no user is logged in."""


class ProfilesTransaction(Protocol):
    """Stores that the use cases of profiles use. A profile is deleted with its user."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def whole_profiles(self) -> WholeProfileStore: ...
    @property
    def revisions(self) -> RevisionStore: ...
    @property
    def desk_uses(self) -> DesksOfProfiles: ...
    @property
    def trail(self) -> UseCaseTrail: ...
    @property
    def templates(self) -> TemplateStore: ...
