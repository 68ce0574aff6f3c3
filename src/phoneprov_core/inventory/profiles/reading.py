"""What the linter finds in a configuration, and how two revisions differ. Stores nothing."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from msgspec import Struct

from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.inventory.profiles.model import AnyRevision, FirmwareFamily, RevisionNumber
from phoneprov_core.inventory.profiles.use_cases import ProfilesTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted, schema
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.people.access import visible


class ComparedRevisions(QueryCommand, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Which revisions are compared."""

    from_: (
        Annotated[AnyRevision, schema("Number of a revision; the one before `to` if absent")] | None
    ) = None
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
        the one before ``to``. Raises ``NotFound`` for another user's
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
