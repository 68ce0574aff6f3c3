"""The inventory of phones: every account reads it, superadmins write it."""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import (
    CountedPhones,
    CountsQuery,
    CreatePhone,
    Phone,
    PhoneFilters,
    PhonePatch,
    PhoneSearch,
    PhoneSummary,
    SummarySearch,
    plain_value,
)
from phoneprov_core.inventory.phones.ports import PhoneBusy, PhonesTransaction
from phoneprov_core.kernel.actor import SUPERADMIN, Actor, Event
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.commands import applied, record_of
from phoneprov_core.kernel.errors import Forbidden, require
from phoneprov_core.kernel.paging import Listing, Page, Window, listing, page_of
from phoneprov_core.kernel.search import search_for
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, timestamp
from phoneprov_core.people.access import (
    SharedWrite,
    require_owner,
    require_shared_write,
    require_superadmin,
)

_LEASE_SECONDS = 60
_IN_USE = (
    "Deleting a phone that has an address, a desk or a served configuration needs permission "
    "level 0."
)


@dataclass(frozen=True)
class Phones:
    """Create, read, change and delete phones. MACs are accepted in any spelling."""

    database: ReadAndWrite[PhonesTransaction]
    shared_write: SharedWrite
    clock: Clock

    async def all(
        self, actor: Actor, page: Page = None, wanted: PhoneFilters | None = None
    ) -> Listing[Phone]:
        """The phones that match, oldest first or as they are sorted. Raises ``Forbidden`` if the
        filter reads what the caller may not see: deployments and logins of other users. Level 0
        also finds phones by their users."""
        wanted = wanted or PhoneSearch()
        _require_visible(actor, wanted)
        search = search_for(wanted)
        if search is None:
            return await listing(self.database.read, lambda tx: tx.phones, page)
        filters = [await self._filter(name, value) for name, value in search.filters]
        search = replace(search, filters=tuple(filters), people=actor.holds(SUPERADMIN))
        return await listing(self.database.read, lambda tx: tx.phones.matching(search), page)

    async def summaries(
        self, actor: Actor, page: Page, wanted: SummarySearch
    ) -> Listing[PhoneSummary]:
        """The phones that ``all`` lists, at most 1000, with what is on them."""
        require_superadmin(actor)
        phones = await self.all(actor, page or Window(), wanted)
        async with self.database.read() as tx:
            uses = await tx.phones.uses([phone.mac for phone in phones.first])
        summaries = [
            record_of(PhoneSummary, phone, use=uses[phone.mac])
            for phone in phones.first
            if phone.mac in uses  # else it was deleted meanwhile
        ]
        return Listing(summaries, window=phones.window, total=phones.total)

    async def counts(
        self,
        actor: Actor,  # noqa: ARG002
        wanted: CountsQuery,
        page: Page = None,
    ) -> Listing[CountedPhones]:
        """The number of phones of each value of a field, the most first."""
        async with self.database.read() as tx:
            found = await tx.phones.counts(wanted.by, active_only=wanted.is_active)
        merged: dict[str, CountedPhones] = {}
        for value, count in sorted(found.items(), key=lambda one: (-one[1], one[0] or "")):
            key = plain_value(wanted.by, value)
            known = merged.get(key, CountedPhones(value or None, 0))
            merged[key] = CountedPhones(known.value, known.phones + count)
        counted = sorted(merged.values(), key=lambda one: (-one.phones, one.value or ""))
        return page_of(counted, page)

    async def _filter(self, field: str, value: Any) -> tuple[str, Any]:
        """A filter of the store, with every spelling of a value that counts as the same."""
        if field == "macs":
            return "mac", tuple(value.split(","))
        if field not in _SPELLED:
            return field, value
        async with self.database.read() as tx:
            found = await tx.phones.counts(field)
        plain = plain_value(field, value)
        return field, tuple(one for one in found if one and plain_value(field, one) == plain)

    async def get(self, actor: Actor, mac: str) -> Phone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return require(await tx.phones.find(known_mac(mac)), "phone")

    async def create(self, actor: Actor, new: CreatePhone) -> Phone:
        """Raises ``Conflict`` if the MAC is already in the inventory; ``Forbidden`` if
        ``phone_ip`` is set and the caller does not hold level 0."""
        require_shared_write(actor, self.shared_write)
        _require_address_unchanged(actor, None, new.phone_ip)
        now = timestamp(self.clock())
        phone = record_of(Phone, new, created_at=now, updated_at=now)
        async with self.database.write(by=actor) as tx:
            await tx.phones.add(phone)
        return phone

    async def update(self, actor: Actor, mac: str, patch: PhonePatch) -> Phone:
        """Raises ``NotFound``; ``Forbidden`` if ``phone_ip`` changes without level 0."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            before = require(await tx.phones.find(known_mac(mac)), "phone")
            phone = applied(before, patch, updated_at=timestamp(self.clock()))
            _require_address_unchanged(actor, before.phone_ip, phone.phone_ip)
            is_new = phone.phone_ip != before.phone_ip and patch.address_confirmed is not False
            if is_new or (phone.address_confirmed and not before.address_confirmed):
                _require_address_unchanged(actor, None, phone.mac)
                phone = replace(phone, address_confirmed=True, adopted_with_pin=False)
            await tx.phones.put(phone)
        return phone

    async def delete(self, actor: Actor, mac: str) -> None:
        """Delete a phone, its vendor flag, its desk and the configuration that is served to it, and
        disconnect its KEMs.

        Raises ``NotFound``; ``PhoneBusy`` during a switch, whose file would be left; ``Forbidden``
        for a phone with an address, a desk or a served configuration if the caller does not hold
        level 0: it could be created again for another address, or without one.
        """
        require_shared_write(actor, self.shared_write)
        mac = known_mac(mac)
        async with self.database.write(by=actor) as tx:
            # In the order of a switch, which takes the lease first.
            fence = await tx.leases.take(mac, mac, _LEASE_SECONDS)
            phone = require(await tx.phones.find(mac), "phone")
            if fence is None:
                raise PhoneBusy
            await tx.phones.remove(mac)
            await tx.vendor_phones.remove(mac)
            await tx.kems.disconnect(mac)
            had_desk = await tx.desks.remove(mac)
            had_file = await tx.served_files.remove_of(mac)
            if had_file:
                tx.trail.note(Event("served_file.deleted", "served_file", mac))
            if (phone.phone_ip or had_desk or had_file) and not actor.holds(SUPERADMIN):
                raise Forbidden(_IN_USE)
            await tx.leases.release(mac, mac, fence)


_SPELLED = {"brand", "model", "location", "software_type"}


def _require_visible(actor: Actor, wanted: PhoneFilters) -> None:
    for name in "last_outcome", "in_use", "state":
        if getattr(wanted, name) is not None and not actor.holds(SUPERADMIN):
            raise Forbidden(f"Filtering by {name} needs permission level 0.")
    if wanted.user_uuid is not None:
        require_owner(actor, wanted.user_uuid)


def _require_address_unchanged(actor: Actor, before: str | None, after: str | None) -> None:
    """Raises ``Forbidden`` unless the address stays the same or the caller holds level 0. The
    service logs in to ``phone_ip`` with the FTP and phone passwords of the installation: an account
    that chooses the address would receive them."""
    if before != after and not actor.holds(SUPERADMIN):
        raise Forbidden("Changing phone_ip needs permission level 0.")
