"""The company directory, which every account reads and superadmins write; and the personal
directories, which their users and superadmins read and write."""

from dataclasses import KW_ONLY, dataclass

from phoneprov_core.access.rules import SharedWrite, require_owner, require_shared_write, visible
from phoneprov_core.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    ContactSearch,
    CreateCompanyContact,
    CreatePersonalContact,
    PersonalContact,
    PersonalContactPatch,
    TooManyContacts,
)
from phoneprov_core.directory.ports import CompanyDirectoryTransaction, PersonalDirectoryTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import applied, record_of, require_same
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite, selected
from phoneprov_core.kernel.system import Clock, NewId, known_id, shown

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
            return found(await tx.company_contacts.find(known_id(uuid)), "company contact")

    async def create(self, actor: Actor, new: CreateCompanyContact) -> CompanyContact:
        """Create a contact."""
        require_shared_write(actor, self.shared_write)
        contact = record_of(CompanyContact, new, uuid=self.new_id(), created_at=shown(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.company_contacts.add(contact)
        return contact

    async def update(self, actor: Actor, uuid: str, patch: CompanyContactPatch) -> CompanyContact:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            contact = found(await tx.company_contacts.find(known_id(uuid)), "company contact")
            contact = applied(contact, patch)
            await tx.company_contacts.put(contact)
        return contact

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            found(await tx.company_contacts.remove(known_id(uuid)), "company contact")


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
            found(await tx.users.find(owner), "user")
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
            created_at=shown(self.clock()),
        )
        async with self.database.write(by=actor) as tx:
            # Locks the user: of two concurrent requests one waits here.
            found(await tx.users.find(owner), "user")
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
