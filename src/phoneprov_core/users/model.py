"""User accounts. A user's password is no part of it: it lives apart, as a hash."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import (
    Email,
    Language,
    Line,
    OptionalLine,
    Timezone,
    Uuid,
    schema,
)
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.times import Timestamp

# No blank but a space, and that only between two other characters. ``names`` has the other rules.
_USERNAME = r"^[^\s\x00-\x1f\x7f-\x9f]+(?: [^\s\x00-\x1f\x7f-\x9f]+)*$"

Username = Annotated[Line, schema(pattern=_USERNAME, examples=["ada"])]
FirstName = Annotated[Line, schema(examples=["Ada"])]
LastName = Annotated[Line, schema(examples=["Lovelace"])]
Password = Annotated[
    str,
    schema(
        format="password",
        minLength=8,
        maxLength=256,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples=["correct horse battery"],
    ),
]


class User(Struct, frozen=True):
    """An account. ``last_uuid`` is the account that last changed it, ``created_by`` the one
    that created it, None when it registered itself."""

    uuid: Uuid
    first_name: str
    last_name: str
    username: str
    email: Email
    phone: str | None
    lang: Language
    location: str | None
    nationality: str | None
    timezone: Timezone
    is_active: bool
    last_uuid: Uuid | None
    last_login_ip: str | None
    last_logout_ip: str | None
    last_login_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    created_by: Uuid | None
    created_ip: str
    updated_ip: str


class Registration(Command, frozen=True, kw_only=True):
    """An account that somebody asks for themselves."""

    first_name: FirstName
    last_name: LastName
    username: Username
    email: Email
    password: Password
    phone: OptionalLine | None = None
    lang: Language = "en"
    location: OptionalLine | None = None
    nationality: OptionalLine | None = None
    timezone: Timezone = "UTC"

    def __repr__(self) -> str:
        return redacted(self, "password")


class NewUser(Registration, frozen=True, kw_only=True):
    """An account to be created by a superadmin."""

    is_active: bool = True


class UserPatch(Command, frozen=True, kw_only=True):
    """Changes to an account."""

    first_name: FirstName | UnsetType = UNSET
    last_name: LastName | UnsetType = UNSET
    username: Username | UnsetType = UNSET
    email: Email | UnsetType = UNSET
    password: Password | UnsetType = UNSET
    phone: OptionalLine | UnsetType | None = UNSET
    lang: Language | UnsetType = UNSET
    location: OptionalLine | UnsetType | None = UNSET
    nationality: OptionalLine | UnsetType | None = UNSET
    timezone: Timezone | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET

    def __repr__(self) -> str:
        return redacted(self, "password")


# No character is more than four when its accents are typed one by one.
_LONGEST_TYPED = 4 * 255


def folded(name: str) -> str:
    """What makes usernames and e-mail addresses the same in spite of their case, and of how
    their accents are typed: Unicode's canonical caseless matching (D145).

    A name that is too long to be anybody's, however it is typed, is answered as it is: to
    normalise it could take minutes.
    """
    if len(name) > _LONGEST_TYPED:
        return name
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def account_key(username: str) -> str:
    """The key that guesses at a name are counted under. It is a digest, and unknown names count
    like known ones: people type passwords into the wrong field."""
    return hashlib.sha256(folded(username).encode("utf-8", "surrogatepass")).hexdigest()
