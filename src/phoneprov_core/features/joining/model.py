"""People who join and leave, the numbers of a block, and the result of an act."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.features.batches.ports import BatchStore
from phoneprov_core.features.transfer.model import TransferTransaction
from phoneprov_core.features.transfer.texts import WithTable
from phoneprov_core.inventory.extensions import ExtensionType, Voicemail
from phoneprov_core.inventory.links import LinkStore
from phoneprov_core.inventory.profiles.model import TemplateName, Values
from phoneprov_core.inventory.profiles.reading import ProfilesTransaction
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import Conflict, Problem
from phoneprov_core.kernel.fields import (
    SECRET,
    Check,
    ExtensionNumber,
    MacAddress,
    Redacted,
    Uuid,
    schema,
)
from phoneprov_core.people.audit import AuditStore
from phoneprov_core.people.directory.model import Department
from phoneprov_core.people.users.model import ImportedUser, LoginName, Username
from phoneprov_core.people.vendor_users import VendorUserStore

MOST_PEOPLE = 50
"""Maximum number of people of one act: one transaction has all of them."""
MOST_NUMBERS = 10_000
_BLOCK = r"^\+?[0-9]{1,15}-\+?[0-9]{1,15}$"
ACT = "people_act"
"""The resource of the audit entries of an act."""


class Block(NamedTuple):
    """Numbers of the same length, both ends included; each has a plus or none."""

    first: str
    last: str

    @classmethod
    def of(cls, text: str) -> "Block":
        """The block that a text such as ``300-349`` means. Raises ``ValueError``."""
        first, dash, last = text.replace(" ", "").partition("-")
        if not dash or not re.fullmatch(_BLOCK, f"{first}-{last}", re.ASCII):
            raise ValueError("must be two numbers with a hyphen, such as 300-349")
        if len(first) != len(last) or first.startswith("+") is not last.startswith("+"):
            raise ValueError("must have two numbers of the same length")
        if not 0 <= int(last) - int(first) < MOST_NUMBERS:
            raise ValueError(f"must be 1 to {MOST_NUMBERS} numbers, the smallest first")
        return cls(first, last)

    def next_free(self, taken: Collection[str]) -> str | None:
        """The smallest number of the block that is not taken, or None."""
        digits = self.first.removeprefix("+")
        plus, width = self.first.removesuffix(digits), len(digits)
        numbers = (f"{plus}{one:0{width}}" for one in range(int(self.first), int(self.last) + 1))
        return next((number for number in numbers if number not in taken), None)


def _block(text: str) -> str:
    return "-".join(Block.of(text))


def _all_of(people: tuple[Any, ...]) -> tuple[Any, ...]:
    if not 1 <= len(people) <= MOST_PEOPLE:
        raise ValueError(f"must have 1 to {MOST_PEOPLE} elements")
    return people


NumberBlock = Annotated[
    str,
    Check(_block),
    schema(
        "The person gets the smallest free number of this block",
        pattern=_BLOCK,
        examples=["300-349"],
    ),
]
OfTemplate = Annotated[TemplateName, schema("Template of the person's profile")]
MakePin = Annotated[bool, schema("Make a PIN for logins at phones")]
ToDirectory = Annotated[bool, schema("Add the person to the company directory")]
DryRun = Annotated[bool, schema("Write nothing and call no phone; report what would happen")]


class Joiner(ImportedUser, frozen=True, kw_only=True):
    """A person who joins: the account, and what it gets. Without a number and a block the person
    gets no number, without a template no profile."""

    number: Annotated[ExtensionNumber, schema("Number of the person")] | None = None
    block: NumberBlock | None = None
    extension_type: (
        Annotated[
            ExtensionType,
            schema("Type of the extension; by default chan_pjsip with a phone of SIP firmware"),
        ]
        | None
    ) = None
    voicemail: Voicemail = False
    pin: MakePin = True
    template: OfTemplate | None = None
    values: Values | None = None
    mac: Annotated[MacAddress, schema("Phone that is the person's desk")] | None = None
    switch: Annotated[bool, schema("Deploy the profile to that phone at once")] = True
    directory: ToDirectory = True
    department: Department | None = None

    def problems(self) -> list[Problem]:
        found = []
        if self.number is not None and self.block is not None:
            found.append(Problem("block", "is not allowed with `number`"))
        if self.template is None and self.mac is not None:
            found.append(Problem("template", "is required with `mac`"))
        if self.template is None and self.values is not None:
            found.append(Problem("template", "is required with `values`"))
        return found


class JoinRequest(WithTable, frozen=True, kw_only=True):
    """The people who join in one act, in a list or in a table: all of them or none. ``block`` to
    ``directory`` are for people of a table without a value of their own."""

    people: (
        Annotated[
            tuple[Joiner, ...],
            Check(_all_of),
            schema("The people, without a table", minItems=1, maxItems=MOST_PEOPLE),
        ]
        | UnsetType
    ) = UNSET
    block: NumberBlock | UnsetType = UNSET
    template: OfTemplate | UnsetType = UNSET
    pin: MakePin | UnsetType = UNSET
    directory: ToDirectory | UnsetType = UNSET
    dry_run: DryRun = False

    @property
    def usual(self) -> dict[str, object]:
        """The values for people of a table without one."""
        given = {name: getattr(self, name) for name in ("block", "template", "pin", "directory")}
        return {name: value for name, value in given.items() if value is not UNSET}

    def problems(self) -> list[Problem]:
        of_table = () if self.people is UNSET else self.usual
        return [*super().problems(), *(Problem(one, "is for a table only") for one in of_table)]


class Leaver(Command, frozen=True, kw_only=True):
    """A person who leaves."""

    username: Annotated[Username, schema("Username of the person")]
    hand_over_to: (
        Annotated[
            Username,
            schema("Username of the person who gets the numbers; otherwise they become free"),
        ]
        | None
    ) = None


class LeaveRequest(WithTable, frozen=True, kw_only=True):
    """The people who leave in one act, in a list or in a table: all of them or none."""

    people: (
        Annotated[
            tuple[Leaver, ...],
            Check(_all_of),
            schema("The people, without a table", minItems=1, maxItems=MOST_PEOPLE),
        ]
        | UnsetType
    ) = UNSET
    vacant_profile_uuid: (
        Annotated[
            Uuid,
            schema("Default profile of the desks that now have a profile of a leaver as default"),
        ]
        | None
    ) = None
    dry_run: DryRun = False


class UndoRequest(Command, frozen=True, kw_only=True):
    """An act that is undone."""

    act: Annotated[Uuid, schema("UUID of the act")]
    dry_run: DryRun = False


Part = Literal[
    "account", "number", "pin", "profile", "desk", "directory", "sessions", "phone", "person",
    "batch",
]  # fmt: skip
Outcome = Literal["done", "unchanged", "kept", "pending", "failed"]


class ActStep(Struct, frozen=True):
    """A part of an act for one person. In a dry run it is what would happen."""

    part: Annotated[Part, schema("What it is about")]
    outcome: Annotated[
        Outcome,
        schema(
            "`done`; `unchanged`: it was so before; `kept`: it stays on purpose; `pending`: "
            "the service does it later; `failed`: it was tried"
        ),
    ]
    message: Annotated[str, schema("What happened", examples=["The number is 301."])]
    mac: Annotated[MacAddress, schema("Phone whose switch may be repeated")] | None = None
    profile_uuid: Annotated[Uuid, schema("Profile of that switch")] | None = None


class MovedPerson(Redacted, frozen=True):
    """One person of an act. ``pin`` is shown once, in the response to the act that made it."""

    username: LoginName
    user_uuid: Annotated[Uuid, schema("The account; null in a dry run that creates it")] | None
    number: Annotated[str, schema("The person's number", examples=["301"])] | None
    pin: Annotated[str, SECRET, schema("The new PIN, shown once", examples=["730516"])] | None
    steps: Annotated[tuple[ActStep, ...], schema("Each part, in order")]


class Moved(Struct, frozen=True):
    """The result of an act. ``act`` names it in the audit trail, and is what an undo needs; null if
    nothing changed."""

    act: Annotated[Uuid, schema("UUID of the act")] | None
    written: Annotated[bool, schema("Whether anything was written")]
    people: Annotated[tuple[MovedPerson, ...], schema("The people, in the order of the request")]
    unread_sheets: Annotated[
        tuple[str, ...], schema("Names of the sheets of an Excel file that were not read")
    ] = ()


class ActRefused(Conflict):
    """Nothing was written: a person of the act cannot join, leave or be restored."""

    code = "act_refused"
    usual = "Nothing was written: people[0].number is in use (and 1 more)."
    usual_problems = (
        Problem("people[0].number", "is in use"),
        Problem("people[2].username", "is in use"),
    )

    def __init__(self, problems: tuple[Problem, ...] = ()) -> None:
        if not problems:
            super().__init__()
            return
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        first = problems[0]
        what = f"{first.field} {first.message}{more}"
        if row := re.match(r"lines\[([0-9]+)\]", first.field):
            what = f"{len(problems)} problem(s) in the table, the first in line {row[1]}"
        super().__init__(f"Nothing was written: {what}.", problems=problems)


class JoiningTransaction(TransferTransaction, ProfilesTransaction, Protocol):
    """Stores that joiners and leavers need."""

    @property
    def batches(self) -> BatchStore: ...
    @property
    def links(self) -> LinkStore: ...
    @property
    def audit(self) -> AuditStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...


class DryRunEnded(Exception):
    """Rolls the transaction of a dry run back."""


Noted = Mapping[str, Any]
"""What an audit entry of an act holds: the records that it made or changed."""
