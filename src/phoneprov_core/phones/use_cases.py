"""The inventory of phones: every account reads it, superadmins write it."""

from dataclasses import dataclass

from phoneprov_core.access.rules import SharedWrite, require_owner, require_shared_write
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.commands import applied, record_of
from phoneprov_core.kernel.errors import Forbidden, found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite, selected
from phoneprov_core.kernel.system import Clock, shown
from phoneprov_core.phones.model import NewPhone, Phone, PhonePatch, PhoneSearch
from phoneprov_core.phones.ports import PhonesTransaction


@dataclass(frozen=True)
class Phones:
    """Create, read, change and delete phones. MACs are accepted in any spelling."""

    database: ReadAndWrite[PhonesTransaction]
    shared_write: SharedWrite
    clock: Clock

    async def all(
        self, actor: Actor, page: Page = None, wanted: PhoneSearch | None = None
    ) -> Listing[Phone]:
        """The phones that match, oldest first. Raises ``Forbidden`` if the filter reads what the
        caller may not see: deployments and logins of other users."""
        _require_visible(actor, wanted or PhoneSearch())
        return await listing(self.database.read, lambda tx: selected(tx.phones, wanted), page)

    async def get(self, actor: Actor, mac: str) -> Phone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return found(await tx.phones.find(known_mac(mac)), "phone")

    async def create(self, actor: Actor, new: NewPhone) -> Phone:
        """Raises ``Conflict`` if the MAC is already in the inventory; ``Forbidden`` if
        ``phone_ip`` is set and the caller does not hold level 0."""
        require_shared_write(actor, self.shared_write)
        _require_address_unchanged(actor, None, new.phone_ip)
        now = shown(self.clock())
        phone = record_of(Phone, new, created_at=now, updated_at=now)
        async with self.database.write(by=actor) as tx:
            await tx.phones.add(phone)
        return phone

    async def update(self, actor: Actor, mac: str, patch: PhonePatch) -> Phone:
        """Raises ``NotFound``; ``Forbidden`` if ``phone_ip`` changes and the caller does not
        hold level 0."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            before = found(await tx.phones.find(known_mac(mac)), "phone")
            phone = applied(before, patch, updated_at=shown(self.clock()))
            _require_address_unchanged(actor, before.phone_ip, phone.phone_ip)
            await tx.phones.put(phone)
        return phone

    async def delete(self, actor: Actor, mac: str) -> None:
        """Delete a phone, its vendor flag and its desk, and disconnect its KEMs. Raises
        ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        mac = known_mac(mac)
        async with self.database.write(by=actor) as tx:
            found(await tx.phones.remove(mac), "phone")
            await tx.vendor_phones.remove(mac)
            await tx.kems.disconnect(mac)
            await tx.desks.remove(mac)


def _require_visible(actor: Actor, wanted: PhoneSearch) -> None:
    if wanted.last_outcome is not None and not actor.holds(SUPERADMIN):
        raise Forbidden("Filtering by last_outcome needs permission level 0.")
    if wanted.user_uuid is not None:
        require_owner(actor, wanted.user_uuid)


def _require_address_unchanged(actor: Actor, before: str | None, after: str | None) -> None:
    """Raises ``Forbidden`` unless the address stays the same or the caller holds level 0.

    The service logs in to ``phone_ip`` with the FTP and phone passwords of the installation:
    an account that chooses the address would receive them.
    """
    if before != after and not actor.holds(SUPERADMIN):
        raise Forbidden("Changing phone_ip needs permission level 0.")
