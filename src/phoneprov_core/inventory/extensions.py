"""Telephone extensions, managed by superadmins."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Protocol

from msgspec import UNSET, UnsetType
from msgspec.structs import force_setattr, replace

from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import SUPERADMIN, Actor, require_people, require_superadmin
from phoneprov_core.kernel.commands import Command, QueryCommand, applied, normalise, record_of
from phoneprov_core.kernel.errors import InUse, require
from phoneprov_core.kernel.fields import (
    SECRET,
    AnyLine,
    Check,
    CreatedAt,
    CreatedBy,
    CreatedIp,
    ExtensionNumber,
    Line,
    Notes,
    RecordUuid,
    Redacted,
    UpdatedAt,
    UpdatedBy,
    UpdatedIp,
    schema,
)
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    Rows,
    SearchedStore,
    listing,
    selected,
)
from phoneprov_core.kernel.search import ORDER, Query, SearchFields, Whether
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.users.use_cases import KnownNumbers

CHAN_SCCP, CHAN_SIP, CHAN_PJSIP = "chan_sccp", "chan_sip", "chan_pjsip"
_TYPES = (CHAN_SCCP, CHAN_SIP, CHAN_PJSIP, "custom")


def _type(value: str) -> str:
    if value not in _TYPES:
        raise ValueError(f"must be one of {', '.join(_TYPES)}")
    return value


def _password(value: str) -> str:
    # A password of blanks is weak, but valid in Asterisk.
    if not value:
        raise ValueError("must not be empty")
    return values.text(value)


ExtensionType = Annotated[
    str,
    Check(_type),
    schema("Channel driver of the exchange", enum=list(_TYPES), examples=["chan_sccp"]),
]
ExtensionName = Annotated[Line, schema("Name of the extension", examples=["Front desk"])]
ExtensionPassword = Annotated[
    str,
    SECRET,
    Check(_password),
    schema(
        "Password that a phone registers with; without control characters",
        format="password",
        minLength=1,
        maxLength=255,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples=["a long line password"],
    ),
]
VoicemailPasscode = Annotated[
    AnyLine, SECRET, schema("Passcode of the voicemail box", examples=["2468"])
]

Voicemail = Annotated[bool, schema("Whether the extension has voicemail", examples=[False])]
Active = Annotated[bool, schema("Whether the extension is in use", examples=[True])]


class Extension(Redacted, frozen=True):
    """A telephone extension of the exchange. ``created_by`` is the account that created it,
    ``updated_by`` the account that last changed it, or None."""

    uuid: RecordUuid
    type: ExtensionType
    extension: ExtensionNumber
    name: ExtensionName
    password: Annotated[str, SECRET]
    description: Notes | None
    voicemail: Voicemail
    voicemail_passcode: VoicemailPasscode | None
    is_active: Active
    created_at: CreatedAt
    created_by: CreatedBy | None
    updated_at: UpdatedAt
    updated_by: UpdatedBy | None
    created_ip: CreatedIp
    updated_ip: UpdatedIp

    @property
    def is_line(self) -> bool:
        """Whether chan_sccp has it as a line."""
        return self.type == CHAN_SCCP and self.is_active


class ShownExtension(Extension, frozen=True):
    """An extension as it is shown, without its password."""

    password: Annotated[None, SECRET]  # type: ignore[assignment]


def without_password(extension: Extension) -> ShownExtension:
    """The extension without its password."""
    return record_of(ShownExtension, extension, password=None)


class CreateExtension(Command, frozen=True, kw_only=True):
    """An extension to be created; its number is unique."""

    type: ExtensionType
    extension: ExtensionNumber
    name: ExtensionName
    password: ExtensionPassword
    description: Notes | None = None
    voicemail: Voicemail = False
    voicemail_passcode: VoicemailPasscode | None = None
    is_active: Active = True


class ExtensionPatch(Command, frozen=True, kw_only=True):
    """Changes to an extension.

    Responses contain null in place of a password. A null password therefore keeps the stored one,
    so that a record can be sent back as it was read. A null passcode clears it.
    """

    type: ExtensionType | UnsetType = UNSET
    extension: ExtensionNumber | UnsetType = UNSET
    name: ExtensionName | UnsetType = UNSET
    password: ExtensionPassword | UnsetType | None = UNSET
    description: Notes | UnsetType | None = UNSET
    voicemail: Voicemail | UnsetType = UNSET
    voicemail_passcode: VoicemailPasscode | UnsetType | None = UNSET
    is_active: Active | UnsetType = UNSET

    def __post_init__(self) -> None:
        normalise(self)
        if self.password is None:
            force_setattr(self, "password", UNSET)


EXTENSION_FIELDS = SearchFields(texts=("name",), numbers=("extension",))
ExtensionSort = Literal["extension", "-extension", "name", "-name", "type", "-type"]


class ExtensionSearch(QueryCommand, frozen=True, kw_only=True):
    """Which extensions a list shows; None of a field means all."""

    q: Query | None = None
    type: Annotated[ExtensionType, schema("Only extensions of this type")] | None = None
    voicemail: Whether | None = None
    is_active: Whether | None = None
    sort: Annotated[ExtensionSort, ORDER] | None = None


class DesksOfExtensions(Protocol):
    """The part of desks that extensions use."""

    async def with_number(self, extension_uuid: str) -> list[str]:
        """The MACs of desks with this number, locked."""


class KnownNumber(NamedTuple):
    """A number of an extension. It ``is_free`` if the extension is inactive and belongs to no user
    and no desk."""

    number: str
    uuid: str
    is_free: bool


class ExtensionStore(SearchedStore[Extension], KnownNumbers, Protocol):
    """Extensions, by uuid."""

    async def between(self, first: str, last: str) -> list[KnownNumber]:
        """The numbers from ``first`` to ``last``, which have as many digits each, in their
        order; ``first`` may also be ``last`` and any text."""


class ExtensionsTransaction(Protocol):
    """Stores that the use cases of extensions use. Numbers are unique; removing an extension
    removes its links to users."""

    @property
    def extensions(self) -> ExtensionStore: ...
    @property
    def desk_uses(self) -> DesksOfExtensions: ...


@dataclass(frozen=True)
class Extensions:
    """Create, read, change and delete extensions. The right helpdesk reads them without secrets;
    every other use case requires level 0."""

    database: ReadAndWrite[ExtensionsTransaction]
    clock: Clock
    new_id: NewId

    async def all(
        self, actor: Actor, page: Page = None, wanted: ExtensionSearch | None = None
    ) -> Listing[Extension]:
        """Every extension, oldest first. A word also finds the extensions of users with such a
        name."""
        require_people(actor)

        def matching(tx: ExtensionsTransaction) -> Rows[Extension]:
            return selected(tx.extensions, wanted, people=True)

        found = await listing(self.database.read, matching, page)
        return found.mapped(lambda extension: _shown_to(actor, extension))

    async def get(self, actor: Actor, uuid: str) -> Extension:
        """Raises ``NotFound``."""
        require_people(actor)
        async with self.database.read() as tx:
            found = require(await tx.extensions.find(known_id(uuid)), "extension")
        return _shown_to(actor, found)

    async def create(self, actor: Actor, new: CreateExtension) -> Extension:
        """Raises ``Conflict`` if the number is in use."""
        require_superadmin(actor)
        now = timestamp(self.clock())
        extension = record_of(
            Extension,
            new,
            uuid=self.new_id(),
            created_at=now,
            created_by=actor.user_uuid,
            updated_at=now,
            created_ip=actor.ip,
            updated_ip=actor.ip,
        )
        async with self.database.write(by=actor) as tx:
            await tx.extensions.add(extension)
        return extension

    async def update(self, actor: Actor, uuid: str, patch: ExtensionPatch) -> Extension:
        """Raises ``NotFound``; ``Conflict`` if the number is in use, or if it is the number of a
        desk and would be no line of chan_sccp."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            before = require(await tx.extensions.find(known_id(uuid)), "extension")
            extension = applied(
                before,
                patch,
                updated_at=timestamp(self.clock()),
                updated_by=actor.user_uuid,
                updated_ip=actor.ip,
            )
            if before.is_line and not extension.is_line:
                await _require_no_desk(tx, extension)
            await tx.extensions.put(extension)
        return extension

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Delete an extension and its links to users. Raises ``NotFound``; ``Conflict`` if it is
        the number of a desk."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            extension = require(await tx.extensions.find(known_id(uuid)), "extension")
            await _require_no_desk(tx, extension)
            await tx.extensions.remove(extension.uuid)


def _shown_to(actor: Actor, extension: Extension) -> Extension:
    if actor.holds(SUPERADMIN):
        return extension
    return replace(extension, password="", voicemail_passcode=None)  # nosec B106


async def _require_no_desk(tx: ExtensionsTransaction, extension: Extension) -> None:
    """Raises ``InUse`` if the extension is the number of a desk, which must be able to call."""
    desks = await tx.desk_uses.with_number(extension.uuid)
    if desks:
        raise InUse(
            f"This extension is the number of the desk {desks[0]}. Give the desk another one first."
        )
