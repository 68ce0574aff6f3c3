"""PINs. A PIN is kept, and answered, only as a hash made with a secret key: whoever reads
the hash cannot search the few possible PINs for it."""

from __future__ import annotations

import hashlib
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import PinCode, Uuid, schema
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.times import Timestamp


class VendorUser(Struct, frozen=True):
    """A user's PIN, as a hash."""

    uuid: Uuid
    user_uuid: Uuid
    pin_code: Annotated[str, schema(description="The hash of the PIN")]
    created_at: Timestamp

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
