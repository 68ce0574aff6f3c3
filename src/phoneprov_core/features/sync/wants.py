"""What a person wants of an account, and what it differs in."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from msgspec import UNSET, Struct

from phoneprov_core.features.sync.reading import Person
from phoneprov_core.features.transfer.rows import PIECE
from phoneprov_core.kernel.store import Rows
from phoneprov_core.people.users.model import ImportedUser, User, UserPatch


class Want(NamedTuple):
    """An account as a person wants it; ``user`` is None for a new one."""

    person: Person
    user: User | None
    command: ImportedUser | UserPatch
    adopted: bool = False

    @property
    def username(self) -> str:
        """The username at the end."""
        new = self.command.username
        return new if isinstance(new, str) else self.user.username if self.user else ""

    @property
    def email(self) -> str:
        """The e-mail address at the end."""
        new = self.command.email
        return new if isinstance(new, str) else self.user.email if self.user else ""


async def every(rows: Rows[Any]) -> AsyncIterator[Any]:
    """All records of a store, read in pieces."""
    last = None
    while piece := await rows.rows(PIECE, after=last):
        for one in piece:
            yield one
        last = piece[-1]


def fields_set(patch: Struct) -> list[str]:
    """The fields that a patch sets."""
    return [name for name in patch.__struct_fields__ if getattr(patch, name) is not UNSET]


def differs(patch: Struct, record: Struct, name: str) -> bool:
    """Whether a field of the patch has another value than the record; no value is empty text."""
    return (getattr(patch, name) or None) != (getattr(record, name) or None)
