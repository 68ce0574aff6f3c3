"""Telephone extensions."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Check, Command, settle
from phoneprov_core.kernel.fields import (
    Description,
    ExtensionNumber,
    Line,
    OptionalLine,
    Uuid,
    schema,
)
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.times import Timestamp

_TYPES = ("chan_sccp", "chan_sip", "chan_pjsip", "custom")


def _type(value: str) -> str:
    if value not in _TYPES:
        raise ValueError(f"must be one of {', '.join(_TYPES)}")
    return value


def _password(value: str) -> str:
    # Blanks alone are a poor password, and still one that an exchange may be set up with.
    if not value:
        raise ValueError("must not be empty")
    return values.text(value)


ExtensionType = Annotated[
    str,
    Check(_type),
    schema(
        description="The channel driver of the exchange that serves it",
        enum=list(_TYPES),
        examples=["chan_sccp"],
    ),
]
ExtensionName = Annotated[Line, schema(examples=["Front desk"])]
ExtensionPassword = Annotated[
    str,
    Check(_password),
    schema(
        description="What a phone registers with; no control characters",
        format="password",
        minLength=1,
        maxLength=255,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples=["a long line password"],
    ),
]
VoicemailPasscode = Annotated[OptionalLine, schema(examples=["2468"])]


class Extension(Struct, frozen=True):
    """A telephone extension of the exchange. ``created_by`` and ``updated_by`` are the
    accounts that created it and that last changed it, the latter None until then."""

    uuid: Uuid
    type: ExtensionType
    extension: ExtensionNumber
    name: str
    password: str
    description: str | None
    voicemail: bool
    voicemail_passcode: str | None
    is_active: bool
    created_at: Timestamp
    created_by: Uuid | None
    updated_at: Timestamp
    updated_by: Uuid | None
    created_ip: str
    updated_ip: str

    def __repr__(self) -> str:
        return redacted(self, "password", "voicemail_passcode")


class NewExtension(Command, frozen=True, kw_only=True):
    """An extension to be recorded; no two have the same number."""

    type: ExtensionType
    extension: ExtensionNumber
    name: ExtensionName
    password: ExtensionPassword
    description: Description | None = None
    voicemail: bool = False
    voicemail_passcode: VoicemailPasscode | None = None
    is_active: bool = True

    def __repr__(self) -> str:
        return redacted(self, "password", "voicemail_passcode")


class ExtensionPatch(Command, frozen=True, kw_only=True):
    """Changes to an extension.

    A password is never answered, it is null there. A null password here therefore leaves the
    stored one alone, so that what was read can be sent back; no extension is without one. A
    null passcode clears it.
    """

    type: ExtensionType | UnsetType = UNSET
    extension: ExtensionNumber | UnsetType = UNSET
    name: ExtensionName | UnsetType = UNSET
    password: ExtensionPassword | UnsetType | None = UNSET
    description: Description | UnsetType | None = UNSET
    voicemail: bool | UnsetType = UNSET
    voicemail_passcode: VoicemailPasscode | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        settle(self)
        if self.password is None:
            msgspec.structs.force_setattr(self, "password", UNSET)

    def __repr__(self) -> str:
        return redacted(self, "password", "voicemail_passcode")
