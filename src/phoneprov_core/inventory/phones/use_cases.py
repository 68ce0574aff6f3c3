"""Stores of the use cases of phones, and phones together with related records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from msgspec.structs import replace

from phoneprov_core.inventory.phone_parts import (
    Kem,
    KemsTransaction,
    VendorPhone,
    VendorPhonesTransaction,
)
from phoneprov_core.inventory.phones.model import (
    CountedPhones,
    CountsQuery,
    CreatePhone,
    Phone,
    PhoneFacts,
    PhoneFilters,
    PhonePatch,
    PhoneSearch,
    PhoneSummary,
    PhoneUse,
    SummarySearch,
    by_value,
    plain_value,
)
from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    Actor,
    Event,
    SharedWrite,
    UseCaseTrail,
    may_see_people,
    require_owner,
    require_people,
    require_shared_write,
)
from phoneprov_core.kernel.commands import applied, record_of
from phoneprov_core.kernel.errors import Conflict, Forbidden, require
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    Page,
    ReadAndWrite,
    SearchedStore,
    listing,
    page_of,
)
from phoneprov_core.kernel.search import Search, search_for
from phoneprov_core.kernel.values import known_mac, timestamp
from phoneprov_core.people.access import places_of


class ForgetServedFile(Protocol):
    """The one method of served files that the inventory uses."""

    async def remove_of(self, mac: str) -> bool:
        """Remove the files whose names contain the digits of this MAC; False if there are none."""


class HoldPhone(Protocol):
    """The methods of leases that the inventory uses."""

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        """Acquire the phone; the fence of the lease, or None while a switch has it."""

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        """Release the lease."""

    async def continue_after(self, mac: str, fence: int) -> None:
        """Make the next fence of a phone greater than ``fence``, the fence of another phone."""


class SignsOfLife(Protocol):
    """What is known of phones from their own requests."""

    async def saw(self, mac: str, at: str) -> None:
        """Keep that a phone gave a sign of life at this moment, to the minute: it fetched a file,
        requested a page or registered. A phone that is not in the inventory is ignored."""


class PhoneBusy(Conflict):
    """Another switch of the phone is running."""

    code = "phone_busy"
    usual = "Another switch of this phone is running; try again when it has ended."


class PhoneStore(SearchedStore[Phone], Protocol):
    """Phones, by MAC.

    Besides the fields of a phone, ``matching`` filters by ``last_outcome``, the outcome of the
    phone's deployment with the largest number (``none`` without one), by ``last_drill``, its
    newest drill with a known result (``none`` without one), by ``user_uuid``, the user
    who is logged in at the phone, by ``in_use``, whether a user is, and by ``number``, one of its
    numbers. It also sorts by ``last_outcome``, by its first ``number``, and by ``username``,
    ``profile_name``, ``state`` and ``seen_at`` of the use, phones without one last; such a list is
    read by offset.
    """

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        """Those of ``macs`` that are not in the inventory, in order; a query for thousands."""

    async def counts(self, field: str, *, active_only: bool = False) -> dict[str | None, int]:
        """The number of phones of each value of a field; with ``active_only`` of active ones."""

    async def uses(self, macs: Sequence[str]) -> dict[str, PhoneUse]:
        """What is known of the use of these phones of the inventory, in one query."""


class ForgetDesk(Protocol):
    """The part of the store of desks that phones use."""

    async def remove(self, mac: str) -> bool:
        """Remove the record. Returns whether it differed from the record of an unused desk."""


class PhonesTransaction(KemsTransaction, VendorPhonesTransaction, Protocol):
    """Stores that the use cases of phones use. The key of a phone is its MAC in canonical form.
    Stores do not change each other: the use case deletes what belongs to a phone, and disconnects
    its KEMs."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> ForgetDesk: ...
    @property
    def served_files(self) -> ForgetServedFile: ...
    @property
    def leases(self) -> HoldPhone: ...
    @property
    def trail(self) -> UseCaseTrail: ...


class EnrichedPhone(PhoneFacts, frozen=True):
    """A phone with its vendor flag (null if there is none) and its KEMs, oldest first."""

    is_vendor: Annotated[
        bool, schema("Whether the phone is flagged as a vendor phone", examples=[True])
    ]
    vendor: Annotated[VendorPhone | None, schema("Vendor flag; null without one")]
    key_expansion_modules: Annotated[
        tuple[Kem, ...], schema("Key expansion modules connected to the phone, oldest first")
    ]


def enriched(phone: Phone, vendor: VendorPhone | None, kems: tuple[Kem, ...]) -> EnrichedPhone:
    """The phone with its flag, if any, and its KEMs."""
    return record_of(
        EnrichedPhone,
        phone,
        is_vendor=vendor is not None and vendor.vendor,
        vendor=vendor,
        key_expansion_modules=kems,
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
        filter reads what the caller may not see: deployments and logins of other users; with a
        right, such a filter finds phones in its scope. Level 0 also finds phones by their users."""
        wanted = wanted or PhoneSearch()
        reads_use = _reads_use(actor, wanted)
        return await self._found(actor, page, wanted, in_scope=reads_use)

    async def _found(
        self, actor: Actor, page: Page, wanted: PhoneFilters, *, in_scope: bool
    ) -> Listing[Phone]:
        """The phones that match; ``in_scope`` only phones that the actor may see with their use."""
        places = None
        if in_scope and actor.scope:
            async with self.database.read() as tx:
                places = await places_of(actor, tx.phones)
        search = search_for(wanted)
        if search is None and places is None:
            return await listing(self.database.read, lambda tx: tx.phones, page)
        search = search or Search()
        filters = dict([await self._filter(name, value) for name, value in search.filters])
        if places is not None:
            asked = filters.get("location", places)
            filters["location"] = tuple(one for one in places if one in asked)
        found = replace(
            search,
            filters=tuple(sorted(filters.items())),
            people=in_scope or actor.holds(SUPERADMIN),
        )
        return await listing(self.database.read, lambda tx: tx.phones.matching(found), page)

    async def summaries(
        self, actor: Actor, page: Page, wanted: SummarySearch
    ) -> Listing[PhoneSummary]:
        """The phones that ``all`` lists, with what is on them; with a right the phones in its
        scope."""
        require_people(actor)
        return await (await self.used(actor, page, wanted)).joined(self._with_use)

    async def used(self, actor: Actor, page: Page, wanted: SummarySearch) -> Listing[Phone]:
        """The phones of ``summaries``; for callers who may not see them the phones where they are
        logged in. Raises ``Forbidden`` like ``all``."""
        if may_see_people(actor):
            return await self._found(actor, page, wanted, in_scope=True)
        own = replace(wanted, user_uuid=wanted.user_uuid or actor.user_uuid)
        return await self.all(actor, page, own)

    async def _with_use(self, phones: list[Phone]) -> list[PhoneSummary]:
        async with self.database.read() as tx:
            uses = await tx.phones.uses([phone.mac for phone in phones])
        return [
            record_of(PhoneSummary, phone, use=uses[phone.mac])
            for phone in phones
            if phone.mac in uses  # else it was deleted meanwhile
        ]

    async def counts(
        self,
        actor: Actor,  # noqa: ARG002
        wanted: CountsQuery,
        page: Page = None,
    ) -> Listing[CountedPhones]:
        """The number of phones of each value of a field, the most first."""
        async with self.database.read() as tx:
            found = await tx.phones.counts(wanted.by, active_only=wanted.is_active)
        return page_of(by_value(wanted.by, found), page)

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


def _reads_use(actor: Actor, wanted: PhoneFilters) -> bool:
    """Whether the filter reads deployments and logins of other users. Raises ``Forbidden``."""
    if wanted.last_drill is not None and not actor.holds(SUPERADMIN):
        raise Forbidden("Filtering by last_drill needs permission level 0.")
    names = [
        n for n in ("last_outcome", "in_use", "state", "number") if getattr(wanted, n) is not None
    ]
    if names and not may_see_people(actor):
        raise Forbidden(f"Filtering by {names[0]} needs permission level 0.")
    if wanted.user_uuid in {None, actor.user_uuid}:
        return bool(names)
    if not may_see_people(actor):
        require_owner(actor, wanted.user_uuid)
    return True


def _require_address_unchanged(actor: Actor, before: str | None, after: str | None) -> None:
    """Raises ``Forbidden`` unless the address stays the same or the caller holds level 0. The
    service logs in to ``phone_ip`` with the FTP and phone passwords of the installation: an account
    that chooses the address would receive them."""
    if before != after and not actor.holds(SUPERADMIN):
        raise Forbidden("Changing phone_ip needs permission level 0.")
