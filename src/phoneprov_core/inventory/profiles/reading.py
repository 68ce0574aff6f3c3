"""The stores of profiles, what the linter finds in a configuration, how two revisions differ."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.inventory.profiles.model import (
    AnyRevision,
    Content,
    FirmwareFamily,
    Profile,
    ProfileRecord,
    Revision,
    RevisionNumber,
)
from phoneprov_core.kernel.actor import Actor, UseCaseTrail
from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted, schema
from phoneprov_core.kernel.ports import ReadAndWrite, Rows, SearchedRows, Store
from phoneprov_core.people.access import KnownUsers, visible


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

        Keeps the newest revision and needed revisions: by a running deployment, by a batch
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


class TemplatesOfProfiles(Protocol):
    """The part of templates that profiles use."""

    async def is_shared(self, name: str) -> bool | None:
        """Whether users without level 0 make profiles of the template of this exact name; None if
        there is no such template. In a writing transaction no other transaction changes that until
        this one ends."""


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
    def template_uses(self) -> TemplatesOfProfiles: ...


class ComparedRevisions(QueryCommand, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Which revisions are compared."""

    from_: Annotated[AnyRevision, schema("Number of a revision, by default before `to`")] | None = (
        None
    )
    to: Annotated[AnyRevision, schema("Number of a revision; the newest if absent")] | None = None


class LintRequest(Command, frozen=True, kw_only=True):
    """A configuration to check."""

    cnf_xml: Annotated[
        str,
        SECRET,
        schema(
            "The text to check; it need not be well-formed",
            examples=["<device><deviceProtocol>SCCP</deviceProtocol></device>"],
        ),
    ]
    software_type: FirmwareFamily | None = None


class LintResult(Struct, frozen=True):
    """The result of the linter."""

    findings: Annotated[tuple[Finding, ...], schema("Findings in the order of their positions")]


class RevisionDiff(Redacted, frozen=True, rename={"from_": "from"}):
    """The difference of two revisions of one profile."""

    from_: RevisionNumber
    to: RevisionNumber
    diff: Annotated[
        str,
        SECRET,
        schema(
            "Unified diff, empty if the two are equal; secrets are shown as *** and a "
            "number, equal secrets with the same number"
        ),
    ]


@dataclass(frozen=True)
class ReadConfigurations:
    """Lint and compare configurations."""

    database: ReadAndWrite[ProfilesTransaction]
    compare: Compare
    _: KW_ONLY
    largest_xml: int = LARGEST

    async def lint(self, request: LintRequest) -> LintResult:
        """A text that is not well-formed or too large is one finding. Raises ``Unavailable``."""
        content = request.cnf_xml.encode()
        if len(content) > self.largest_xml:
            return LintResult(lint(content, largest=self.largest_xml))
        asked = Comparison(old=None, new=request.cnf_xml, family=request.software_type or None)
        return LintResult((await self.compare(asked)).findings)

    async def difference(
        self, actor: Actor, uuid: str, from_: int | None = None, to: int | None = None
    ) -> RevisionDiff:
        """The difference of two revisions of a profile. ``to`` is the newest if None, ``from_``
        the revision before ``to``. Raises ``NotFound`` for another user's
        profile and for a revision that does not exist; ``Unavailable``."""
        async with self.database.read() as tx:
            profile = await visible(actor, tx.profiles, uuid, "profile", is_listed=True)
            if to is None:
                to = require(await tx.revisions.newest(profile.uuid), "revision").number
            if from_ is None:
                from_ = max(1, to - 1)
            texts = []
            for number in (from_, to):
                revision = require(await tx.revisions.find(profile.uuid, number), "revision")
                content = require(await tx.revisions.content(revision.uuid), "revision")
                texts.append(content.as_xml())
        old, new = texts
        compared = await self.compare(
            Comparison(old=old, new=new, old_label=f"revision {from_}", new_label=f"revision {to}")
        )
        return RevisionDiff(from_, to, compared.diff or "")
