"""PINs. Only a hash with a secret key is stored and returned: without the key, the few possible
PINs cannot be tried."""

from __future__ import annotations

import hashlib
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import CreatedAt, PinCode, RecordUuid, UserUuid, schema
from phoneprov_core.kernel.redaction import redacted


class VendorUser(Struct, frozen=True):
    """A user's PIN, as a hash."""

    uuid: RecordUuid
    user_uuid: UserUuid
    pin_code: Annotated[
        str,
        schema(
            description="Hash of the PIN, made with a secret key",
            examples=["$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$..."],
        ),
    ]
    created_at: CreatedAt

    def __repr__(self) -> str:
        return redacted(self, "pin_code")


class NewPin(Command, frozen=True, kw_only=True):
    """The PIN to be set."""

    pin_code: PinCode

    def __repr__(self) -> str:
        return redacted(self, "pin_code")


def guess_key(user_uuid: str) -> str:
    """The key that guesses at a user's PIN are counted under."""
    return hashlib.sha256(f"pin {user_uuid}".encode("utf-8", "surrogatepass")).hexdigest()
