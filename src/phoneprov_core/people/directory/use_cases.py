"""The directories of the company and of users, the search at a phone, and what a phone can dial of
the numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from msgspec import Struct

from phoneprov_core.kernel.actor import Actor, SharedWrite, require_owner, require_shared_write
from phoneprov_core.kernel.commands import applied, record_of, require_same
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    SearchedStore,
    Store,
    listing,
    selected,
)
from phoneprov_core.kernel.search import digits_as_ascii
from phoneprov_core.kernel.values import INVISIBLE, known_id, timestamp
from phoneprov_core.people.access import KnownUsers, visible
from phoneprov_core.people.directory.model import (
    PAGE,
    CompanyContact,
    CompanyContactPatch,
    ContactSearch,
    CreateCompanyContact,
    CreatePersonalContact,
    FoundContact,
    PersonalContact,
    PersonalContactPatch,
    TermSearch,
    TooManyContacts,
    searched,
)


class CompanyContactStore(SearchedStore[CompanyContact], Protocol):
    """Contacts of the company, with an index to search them by."""

    async def search(
        self, search: TermSearch, limit: int, *, after: str | None = None
    ) -> list[FoundContact]:
        """At most ``limit`` active contacts that have a term (``terms_of``) for each prefix of
        the search, each once, by name without case and accents, then by uuid; beginning after
        the contact with the uuid ``after``, none if that contact is not active any more. The cost
        follows the number of contacts that match the first prefix, up to 5,000; beyond, the
        number of names up to the last one returned."""


class CompanyDirectoryTransaction(Protocol):
    """Stores that the use cases of company contacts use."""

    @property
    def company_contacts(self) -> CompanyContactStore: ...


class PersonalDirectoryTransaction(Protocol):
    """Stores that the use cases of personal contacts use. A contact belongs to its user and is
    deleted with them."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...


class LookupTransaction(CompanyDirectoryTransaction, PersonalDirectoryTransaction, Protocol):
    """Stores that a phone's search reads."""


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
        numbers.append(Dialled(contact.name, "mobile", number))
    if contact.home and (number := dialled(contact.home)):
        numbers.append(Dialled(contact.name, "home", number))
    return numbers


MOST_CONTACTS = 1000
"""Maximum number of personal contacts of a user; 0 for no limit."""


@dataclass(frozen=True)
class CompanyDirectory:
    """Create, read, change and delete the contacts that all accounts share."""

    database: ReadAndWrite[CompanyDirectoryTransaction]
    shared_write: SharedWrite
    clock: Clock
    new_id: NewId

    async def all(
        self,
        actor: Actor,  # noqa: ARG002
        page: Page = None,
        wanted: ContactSearch | None = None,
    ) -> Listing[CompanyContact]:
        """All company contacts, oldest first."""
        return await listing(
            self.database.read, lambda tx: selected(tx.company_contacts, wanted), page
        )

    async def get(self, actor: Actor, uuid: str) -> CompanyContact:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return require(await tx.company_contacts.find(known_id(uuid)), "company contact")

    async def create(self, actor: Actor, new: CreateCompanyContact) -> CompanyContact:
        """Create a contact."""
        require_shared_write(actor, self.shared_write)
        contact = record_of(
            CompanyContact, new, uuid=self.new_id(), created_at=timestamp(self.clock())
        )
        async with self.database.write(by=actor) as tx:
            await tx.company_contacts.add(contact)
        return contact

    async def update(self, actor: Actor, uuid: str, patch: CompanyContactPatch) -> CompanyContact:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            contact = require(await tx.company_contacts.find(known_id(uuid)), "company contact")
            contact = applied(contact, patch)
            await tx.company_contacts.put(contact)
        return contact

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            require(await tx.company_contacts.remove(known_id(uuid)), "company contact")


@dataclass(frozen=True)
class PersonalDirectory:
    """Create, read, change and delete the contacts of one user."""

    database: ReadAndWrite[PersonalDirectoryTransaction]
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    most_contacts: int = MOST_CONTACTS

    async def of_user(
        self, actor: Actor, user_uuid: str, page: Page = None
    ) -> Listing[PersonalContact]:
        """The contacts of one user, oldest first. Raises ``Forbidden``; ``NotFound`` if the user
        does not exist."""
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        async with self.database.read() as tx:
            require(await tx.users.find(owner), "user")
        return await listing(self.database.read, lambda tx: tx.personal_contacts, page, owner=owner)

    async def create(
        self, actor: Actor, user_uuid: str, new: CreatePersonalContact
    ) -> PersonalContact:
        """Raises ``Forbidden`` for another user's directory; ``NotFound`` if the user does not
        exist; ``Conflict`` (code ``too_many_contacts``) if the user has the maximum number of
        contacts."""
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        contact = record_of(
            PersonalContact,
            new,
            uuid=self.new_id(),
            user_uuid=owner,
            created_at=timestamp(self.clock()),
        )
        async with self.database.write(by=actor) as tx:
            # Locks the user: of two concurrent requests one waits here.
            require(await tx.users.find(owner), "user")
            if self.most_contacts and (
                await tx.personal_contacts.count(owner) >= self.most_contacts
            ):
                raise TooManyContacts(
                    f"This user has {self.most_contacts} personal contacts, the maximum; delete "
                    "one, or raise PHONEPROV_MOST_CONTACTS."
                )
            await tx.personal_contacts.add(contact)
        return contact

    async def update(self, actor: Actor, uuid: str, patch: PersonalContactPatch) -> PersonalContact:
        """Raises ``NotFound``, also for another user's contact."""
        async with self.database.write(by=actor) as tx:
            contact = await visible(actor, tx.personal_contacts, uuid, "personal contact")
            require_same("user_uuid", patch.user_uuid, contact.user_uuid)
            contact = applied(contact, patch)
            await tx.personal_contacts.put(contact)
        return contact

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``, also for another user's contact."""
        async with self.database.write(by=actor) as tx:
            contact = await visible(actor, tx.personal_contacts, uuid, "personal contact")
            await tx.personal_contacts.remove(contact.uuid)


LONGEST_NUMBER = 32
LONGEST_FIELD = 255
"""Characters of the field of a number; a longer text is not read."""

_LONGEST_EXTENSION = 3
"""Digits of an extension that begins with 0, as far as it is distinguished from a second number."""

_SCHEME = re.compile(r"\s*(?:sips?|tel|callto):/{0,2}", re.IGNORECASE)
_WIDE = str.maketrans("\uff0b\ufe62\u207a\uff0a\uff03", "+++*#")
# Marks between the digits of one number.
_SEPARATORS = re.compile(r"[\s()\[\]/.\-_\u2010-\u2015\u2212\u00b7\u2022]+")
# (0) is for calls within the country.
_NATIONAL = re.compile(r"\(\s*0\s*\)")
# In "030 1 / 030 2" the second begins with 0; the number after an area code does not.
_ANOTHER = re.compile(r"\s/\s+(?=0(?:[^\d/]*\d){2})")
_PLAIN = re.compile(r"[0-9]+")
_DIALLED = re.compile(r"\+?[0-9*#]+")
_TRUNK = re.compile(r"[\s(]*0{1,2}[\s)]*(?=\+)")
# Letters for digits, as in 0800 FLOWERS: what is before them is not the whole number.
_NO_LABEL = "(?!(?i:ext|fax|tel|mob|int|nst))"
_VANITY = re.compile(
    rf"[0-9][\s.\-]*{_NO_LABEL}[A-Z]{{3,}}(?![^\W\d_])|[0-9]-{_NO_LABEL}[^\W\d_]{{3,}}"
    r"|[^\W\d_]{3,}-?[0-9]"
)
_EXTENSION = re.compile(r";\s*(?:ext|isub|phone-context|user)\b|[^\W\d_]", re.IGNORECASE)


def dialled(number: str) -> str:
    """The first number in the text, without the marks that people write between its digits: digits,
    ``*`` and ``#``, and ``+`` in front. Extensions (``;ext=``, ``x``, ``ext.``) are cut off. Empty
    if there is none, if it has letters, or if it is too long for a phone."""
    if len(number) > LONGEST_FIELD:
        return ""
    plain = number.replace(" ", "")
    if not _PLAIN.fullmatch(plain.removeprefix("+")):
        plain = next(_numbers_in(number), "")
    return plain if len(plain) <= LONGEST_NUMBER else ""


def not_offered(number: str) -> str | None:
    """What phones do not offer of the text, as a text that continues the name of its field."""
    if not dialled(number):
        return "has no number that a phone can dial"
    first, *others = _numbers_in(number)
    if _EXTENSION.search(number):
        others = [one for one in others if one[0] in "+0" and len(one) > _LONGEST_EXTENSION]
    if others:
        return f"has {len(others) + 1} numbers; phones offer the first, {first}"
    return None


def _numbers_in(text: str) -> Iterator[str]:
    """The numbers in the text, in their order; none if letters stand for digits."""
    text = INVISIBLE.sub("", digits_as_ascii(text)).translate(_WIDE)
    if found := _SCHEME.match(text):
        text = text[found.end() :]
    if "@" in text:  # sip:1001@example.com
        text = text.partition("@")[0]
    if _VANITY.search(text):
        return
    text = _TRUNK.sub("", text, count=1) if _TRUNK.match(text) else text
    if text.lstrip(" (").startswith(("+", "00")):
        text = _NATIONAL.sub(" ", text)
    for part in _ANOTHER.split(text):
        bare = _SEPARATORS.sub("", part)
        for found in _DIALLED.finditer(bare):
            if found[0].strip("+*#"):
                yield found[0]
