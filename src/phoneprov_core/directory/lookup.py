"""The directories as a phone shows them: numbers to dial, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from phoneprov_core.directory.dialling import dialled
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.directory.ports import LookupTransaction
from phoneprov_core.directory.terms import PAGE, FoundContact, searched
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import known_id


class Dialled(Struct, frozen=True):
    """A number of a contact; ``label`` follows the name."""

    name: str
    label: str
    number: str


class LookupPage(Struct, frozen=True):
    """At most 32 numbers. ``after`` is the contact that the next page begins after, None on the
    last one."""

    numbers: tuple[Dialled, ...]
    after: str | None


@dataclass(frozen=True)
class LookUp:
    """Looks contacts up for a phone."""

    database: ReadAndWrite[LookupTransaction]

    async def company(self, name: str, number: str, after: str = "") -> LookupPage:
        """The active contacts of the company that match; every one if both are empty."""
        search = searched(name, number)
        if search is None:
            return LookupPage((), None)
        async with self.database.read() as tx:
            found = await tx.company_contacts.search(
                search, PAGE + 1, after=known_id(after) or None
            )
        return _page(found)

    async def personal(self, user_uuid: str, after: str = "") -> LookupPage:
        """The contacts of one user, oldest first."""
        async with self.database.read() as tx:
            last = await tx.personal_contacts.find(known_id(after)) if after else None
            if last is not None and last.user_uuid != user_uuid:
                last = None
            found = await tx.personal_contacts.rows(PAGE + 1, after=last, owner=user_uuid)
        return _page(found)


def _page(found: Sequence[FoundContact | PersonalContact]) -> LookupPage:
    """As many contacts as have 32 numbers together; contacts without a number are left out."""
    numbers: list[Dialled] = []
    after: str | None = None
    for count, contact in enumerate(found):
        own = _numbers(contact)
        if count == PAGE or len(numbers) + len(own) > PAGE:
            return LookupPage(tuple(numbers), after)
        numbers += own
        after = contact.uuid
    return LookupPage(tuple(numbers), None)


def _numbers(contact: FoundContact | PersonalContact) -> list[Dialled]:
    numbers = []
    if contact.work and (number := dialled(contact.work)):
        numbers.append(Dialled(contact.name, "", number))
    if contact.mobile and (number := dialled(contact.mobile)):
        numbers.append(Dialled(contact.name, " (mobile)", number))
    if contact.home and (number := dialled(contact.home)):
        numbers.append(Dialled(contact.name, " (home)", number))
    return numbers
