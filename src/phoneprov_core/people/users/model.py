"""User accounts, their commands, and the rules for names and passwords."""

import unicodedata
from collections.abc import Callable
from typing import Annotated, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Command, QueryCommand, Rules, wrong
from phoneprov_core.kernel.errors import AlreadyExists, Problem
from phoneprov_core.kernel.fields import (
    SECRET,
    Check,
    CreatedAt,
    CreatedIp,
    Email,
    Language,
    Line,
    Location,
    OptionalLine,
    RecordUuid,
    Timezone,
    UpdatedAt,
    UpdatedIp,
    Uuid,
    schema,
)
from phoneprov_core.kernel.search import ORDER, Filter, HasNumber, Query, SearchFields, Whether
from phoneprov_core.kernel.values import Timestamp, caseless

# No blank but a space, only between other characters; ``check_new_username`` has more rules.
_USERNAME = r"^[^\s\x00-\x1f\x7f-\x9f]+(?: [^\s\x00-\x1f\x7f-\x9f]+)*$"

Username = Annotated[
    Line,
    Check(
        values.not_blank
    ),  # An account from before the rule of invisible characters keeps its name.
    schema(
        "Login name; unique, case is ignored. No leading, trailing or double "
        "blanks, no invisible or compatibility characters",
        pattern=_USERNAME,
        examples=["ada"],
    ),
]
FirstName = Annotated[Line, schema("Given name", examples=["Ada"])]
LastName = Annotated[Line, schema("Family name", examples=["Lovelace"])]
Password = Annotated[
    str,
    SECRET,
    schema(
        "8 to 256 characters (settings), without control characters, and "
        "not a commonly used password. Never returned",
        format="password",
        minLength=8,
        maxLength=256,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples=["correct horse battery"],
    ),
]

LoginName = Annotated[str, schema("Login name; unique, case is ignored", examples=["ada"])]
UserEmail = Annotated[Email, schema("E-mail address; unique, case is ignored")]
TelephoneNumber = Annotated[OptionalLine, schema("Telephone number", examples=["+44 20 7946 0018"])]
Nationality = Annotated[OptionalLine, schema("Nationality", examples=["British"])]
Active = Annotated[bool, schema("Whether the account can log in", examples=[True])]


class User(Struct, frozen=True):
    """An account. ``last_uuid`` is the account that last changed it, ``created_by`` the account
    that created it, None if the user registered it."""

    uuid: RecordUuid
    first_name: FirstName
    last_name: LastName
    username: LoginName
    email: UserEmail
    phone: TelephoneNumber | None
    lang: Language
    location: Location | None
    nationality: Nationality | None
    timezone: Timezone
    is_active: Active
    last_uuid: Annotated[Uuid, schema("Account that last changed this one; null until then")] | None
    last_login_ip: (
        Annotated[str, schema("Client address of the last login", examples=["10.20.0.7"])] | None
    )
    last_logout_ip: (
        Annotated[str, schema("Client address of the last logout", examples=["10.20.0.7"])] | None
    )
    last_login_at: Annotated[Timestamp, schema("Time of the last login")] | None
    created_at: CreatedAt
    updated_at: UpdatedAt
    created_by: (
        Annotated[
            Uuid, schema("Account that created this one; null for one that registered itself")
        ]
        | None
    )
    created_ip: CreatedIp
    updated_ip: UpdatedIp


class Registration(Command, frozen=True, kw_only=True):
    """An account that a person registers for themselves."""

    first_name: FirstName
    last_name: LastName
    username: Username
    email: UserEmail
    password: Password
    phone: TelephoneNumber | None = None
    lang: Language = "en"
    location: Location | None = None
    nationality: Nationality | None = None
    timezone: Timezone = "UTC"


class CreateUser(Registration, frozen=True, kw_only=True):
    """An account to be created by a superadmin."""

    is_active: Active = True


class ImportedUser(CreateUser, frozen=True, kw_only=True):
    """An account of a table. It may have no password: then no password logs in."""

    password: Password | UnsetType = UNSET  # type: ignore[assignment]


class UserPatch(Command, frozen=True, kw_only=True):
    """Changes to an account."""

    first_name: FirstName | UnsetType = UNSET
    last_name: LastName | UnsetType = UNSET
    username: Username | UnsetType = UNSET
    email: UserEmail | UnsetType = UNSET
    password: Password | UnsetType = UNSET
    phone: TelephoneNumber | UnsetType | None = UNSET
    lang: Language | UnsetType = UNSET
    location: Location | UnsetType | None = UNSET
    nationality: Nationality | UnsetType | None = UNSET
    timezone: Timezone | UnsetType = UNSET
    is_active: Active | UnsetType = UNSET


USER_FIELDS = SearchFields(
    texts=("first_name", "last_name", "username", "email"), numbers=("phone",)
)
UserSort = Literal[
    "first_name", "-first_name", "last_name", "-last_name", "username", "-username", "email",
    "-email", "location", "-location", "last_login_at", "-last_login_at", "number", "-number",
]  # fmt: skip


class UserSearch(QueryCommand, frozen=True, kw_only=True):
    """Which accounts a list shows; None of a field means all."""

    q: Query | None = None
    lang: Filter | None = None
    location: Filter | None = None
    nationality: Filter | None = None
    timezone: Filter | None = None
    is_active: Whether | None = None
    number: HasNumber | None = None
    sort: Annotated[UserSort, ORDER] | None = None


SERVICE = "phoneprov"
LEAST_LEFT = 4
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def check_new_username(name: str) -> str:
    """The name; raises ``ValueError`` with the reason why no new account can have it."""
    if values.INVISIBLE.search(name) or any(
        unicodedata.category(character) in _INVISIBLE for character in name
    ):
        raise ValueError("must not contain invisible characters")
    if name != unicodedata.normalize("NFKC", name):
        raise ValueError("must not contain compatibility characters, such as full-width letters")
    if any(character.isspace() and character != " " for character in name):
        raise ValueError("must not contain blanks other than spaces")
    if name != name.strip(" ") or "  " in name:
        raise ValueError("must not begin or end with a space, or contain two in a row")
    return name


def looks_alike() -> AlreadyExists:
    """The conflict of a username that looks like another account's."""
    problem = Problem("username", "looks like one that is already in use")
    return AlreadyExists(
        "This username looks like one that is already in use.", problems=(problem,)
    )


def plain_looks(name: str) -> frozenset[str]:
    """The form of a name for comparing looks, regarding case and compatibility forms."""
    return frozenset({caseless(unicodedata.normalize("NFKC", name))})


class AccountPolicy(Struct, frozen=True):
    """The usernames and passwords that an account may have. ``is_common`` returns whether a
    password is commonly used. ``looks`` returns the keys of a name: two names look the same if they
    share one."""

    is_common: Callable[[str], bool]
    shortest: int = 8
    longest: int = 256
    looks: Callable[[str], frozenset[str]] = plain_looks

    @property
    def rules(self) -> Rules:
        """The rules of an account that exists."""
        return {"password": self.rule}

    @property
    def rules_of_new(self) -> Rules:
        """The rules of a new account."""
        return {"password": self.rule, "username": check_new_username}

    def rule(self, password: str) -> str:
        """The password; raises ``ValueError`` with a reason that never quotes it."""
        if len(password) < self.shortest:
            raise ValueError(f"must be at least {self.shortest} characters long")
        if len(password) > self.longest:
            raise ValueError(f"must be at most {self.longest} characters long")
        if any(unicodedata.category(character) in {"Cc", "Cs"} for character in password):
            raise ValueError("must not contain control characters")
        if not password.strip():
            raise ValueError("must not be blank")
        if len(set(unicodedata.normalize("NFC", password))) == 1:
            raise ValueError("must not repeat one character")
        if self.is_common(password):
            raise ValueError("is among the most commonly used passwords; choose another")
        return password

    def require_own(self, password: str, username: str, email: str) -> None:
        """Raises ``Invalid`` for a password of little more than the account's or service's name."""
        left = _caseless(password)
        names = {_caseless(name) for name in (username, email.rpartition("@")[0], SERVICE)}
        for name in sorted(names - {""}, key=len, reverse=True):
            left = left.replace(name, "")
        if len(left) < LEAST_LEFT:
            message = "must not consist of the username, the e-mail address or the service name"
            raise wrong("password", message)


def _caseless(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


class PasswordHasher(Protocol):
    """Slow hashes of passwords. The whole password counts, in Unicode form NFC.

    All methods run in threads, a bounded number at a time, and raise ``Unavailable`` if too many
    calls wait, or if a verification waited for more than 4 seconds. Calls with ``first`` wait in a
    separate queue that is served first, so that unknown callers cannot fill it. Both queues are
    served before that of PINs.
    """

    async def hash(self, password: str, *, first: bool = True) -> str:
        """A salted hash that contains its parameters."""

    async def verify(self, password: str, hash_: str | None, *, first: bool = True) -> bool:
        """Whether the password matches this hash. None means an account that does not exist:
        the result is False and takes the same time."""

    def is_outdated(self, hash_: str) -> bool:
        """Whether the hash was made with other parameters than the current ones."""
