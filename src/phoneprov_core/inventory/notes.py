"""Notes on phones and people: a line of the administration, beside the records of the interface."""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from msgspec import Struct

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import (
    Actor,
    Event,
    UseCaseTrail,
    require_people,
    require_superadmin,
)
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import OptionalLine, schema
from phoneprov_core.kernel.ports import ReadAndWrite, Store
from phoneprov_core.kernel.search import SearchFields
from phoneprov_core.kernel.values import known_id, known_mac
from phoneprov_core.people.access import require_at
from phoneprov_core.people.users.model import User

NoteLine = Annotated[
    OptionalLine, schema("The note; null for none", examples=["Keeps the key of the rack"])
]
Kind = Literal["phone", "user"]


class Note(Struct, frozen=True):
    """The note on a phone or a person. Searches of phones and people find it."""

    note: NoteLine | None


NOTE_FIELDS = SearchFields(texts=("note",))


class WriteNote(Command, frozen=True, kw_only=True):
    """The note in place of the present one."""

    note: NoteLine | None


class NoteStore(Protocol):
    """The notes on phones, by MAC, and on users, by uuid; they are deleted with these."""

    async def of(self, kind: Kind, key: str) -> str | None:
        """The note, or None."""

    async def put(self, kind: Kind, key: str, note: str | None) -> None:
        """Replace the note. Has no effect without the phone or the user."""


class NotesTransaction(Protocol):
    """Stores that the use cases of notes use."""

    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def users(self) -> Store[User]: ...
    @property
    def notes(self) -> NoteStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...


@dataclass(frozen=True)
class Notes:
    """Level 0 reads and writes notes; a helpdesk reads notes on people, and on the phones in
    its scope. Each raises ``Forbidden``, and ``NotFound`` without the phone or the user."""

    database: ReadAndWrite[NotesTransaction]

    async def of_phone(self, actor: Actor, mac: str) -> Note:
        """The note on a phone."""
        require_people(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            require_at(actor, phone)
            return Note(await tx.notes.of("phone", phone.mac))

    async def of_user(self, actor: Actor, uuid: str) -> Note:
        """The note on a person."""
        require_people(actor)
        async with self.database.read() as tx:
            user = require(await tx.users.find(known_id(uuid)), "user")
            return Note(await tx.notes.of("user", user.uuid))

    async def put_on_phone(self, actor: Actor, mac: str, new: WriteNote) -> Note:
        """Replace the note on a phone."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            return await _put(tx, "phone", phone.mac, new.note)

    async def put_on_user(self, actor: Actor, uuid: str, new: WriteNote) -> Note:
        """Replace the note on a person."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            user = require(await tx.users.find(known_id(uuid)), "user")
            return await _put(tx, "user", user.uuid, new.note)


async def _put(tx: NotesTransaction, kind: Kind, key: str, given: str | None) -> Note:
    note = given or None
    if note != await tx.notes.of(kind, key):
        await tx.notes.put(kind, key, note)
        tx.trail.note(Event(f"{kind}.noted", kind, key, {"note": note}))
    return Note(note)
