"""The state of one phone, and the numbers of the fleet; level 0 and helpdesks read them."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.fleet.model import (
    AdoptPhone,
    AlreadyReplaced,
    FleetStore,
    FleetTransaction,
    PlacedPhone,
    Replacement,
    ReplacePhone,
    address_of_new,
    successor,
)
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.fleet.status import PhoneStatus, status_of, waiting_at
from phoneprov_core.features.serving.model import DiscoveredPhone, phone_seen
from phoneprov_core.inventory.phone_parts import VendorPhoneRecord
from phoneprov_core.inventory.phones.model import (
    Phone,
    PhoneFilters,
    bare_model,
    by_value,
    speaks_sip,
)
from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    SYSTEM_ACTOR,
    Actor,
    Event,
    Value,
    require_people,
    require_superadmin,
)
from phoneprov_core.kernel.commands import QueryCommand, record_of, wrong
from phoneprov_core.kernel.errors import Unavailable, require
from phoneprov_core.kernel.fields import schema, within
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite, selected
from phoneprov_core.kernel.values import known_mac, timestamp
from phoneprov_core.people.access import places_of, require_at
from phoneprov_core.switching.deployments.observation import Identity, PhoneInformation, identity_at

HISTORY = 20
MOST_DAYS = 365
_SETTLED_DAYS = 2
"""Deployments of earlier days do not change any more, so they are counted only once."""
_DAYS_AT_ONCE = timedelta(days=30)
"""Days that are counted in one transaction."""


class FleetQuery(QueryCommand, frozen=True, kw_only=True):
    """Which days are shown."""

    days: Annotated[int, within(1, MOST_DAYS, "Number of days of deployments")] = 30


class FleetDay(Struct, frozen=True):
    """The deployments of one day (UTC)."""

    day: Annotated[str, schema("The day", format="date", examples=["2026-01-31"])]
    outcomes: Annotated[dict[str, int], schema("Number of deployments by outcome")]


_FOR_LEVEL_0 = "null without level 0"


class Fleet(Struct, frozen=True):
    """Active phones in numbers, and deployments by day. A value that is not known is not counted
    under ``models`` and ``loads``."""

    phones: Annotated[int, schema("Number of active phones", minimum=0, examples=[200])]
    states: Annotated[
        dict[str, int], schema("Phones by state; one with several states counts in each")
    ]
    last_outcomes: Annotated[dict[str, int], schema("Phones by outcome of the newest deployment")]
    models: Annotated[dict[str, int], schema("Phones by model, as recorded, in its bare form")]
    loads: Annotated[dict[str, int], schema("Phones by firmware, as reported")]
    drills: Annotated[
        dict[str, int], schema("Phones by result of their last drill; `none`: without one")
    ]
    locations: Annotated[
        dict[str, int], schema("Phones by location; phones without a location under an empty name")
    ]
    inactive: Annotated[int, schema(f"Phones that are not active; {_FOR_LEVEL_0}")] | None
    in_use: Annotated[int, schema(f"Phones where a user is logged in; {_FOR_LEVEL_0}")] | None
    discovered: Annotated[int, schema(f"Discovered phones; {_FOR_LEVEL_0}")] | None
    days: Annotated[tuple[FleetDay, ...], schema("Days with deployments, oldest first")]


@dataclass(frozen=True)
class ViewFleet:
    """Reads the observations of the phones."""

    database: ReadAndWrite[FleetTransaction]
    clock: Clock

    async def state(self, actor: Actor, mac: str) -> PhoneStatus:
        """Raises ``Forbidden``, ``NotFound``."""
        require_people(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            require_at(actor, phone)
            seen = await tx.fleet.find(phone.mac)
            history = await tx.fleet.history(phone.mac, HISTORY)
            is_left = await tx.fleet.left(phone.mac)
            desk, holder = await tx.desks.find(phone.mac), await tx.leases.holder(phone.mac)
        waiting = waiting_at(desk, holder, self.clock())
        return status_of(phone, seen, tuple(history), is_left=is_left, waiting=waiting)

    async def numbers(self, actor: Actor, wanted: FleetQuery) -> Fleet:
        """The numbers of the phones that the caller may see. Raises ``Forbidden``."""
        require_people(actor)
        now = self.clock()
        today, since = timestamp(now)[:10], timestamp(now - timedelta(days=wanted.days - 1))[:10]
        # Once a day. Until it succeeds, the days are counted each time.
        with suppress(Unavailable):
            await self.count_days()
        async with self.database.read() as tx:
            places = await places_of(actor, tx.phones)
            counted = await tx.fleet.counts(places)
            days = await tx.fleet.days(since, today, places)
            locations = await tx.phones.counts("location", active_only=True)
            others: tuple[int, int, int] | None = None
            if actor.holds(SUPERADMIN):
                others = (
                    await tx.phones.count(),
                    await selected(tx.phones, PhoneFilters(in_use=True)).count(),
                    await tx.discovered_phones.count(),
                )
        phones = sum(count for *_, count in counted.recorded)
        total, in_use, discovered = others or (None, None, None)
        states = _by(
            (state.value, count) for states, _, count in counted.observed for state in states
        )
        if unseen := phones - sum(count for *_, count in counted.observed):
            never = FleetState.NEVER_SEEN.value
            states = _by([*states.items(), (never, unseen)])
        return Fleet(
            phones=phones,
            states=states,
            last_outcomes=_by((outcome, count) for outcome, _, count in counted.recorded),
            models=_by((bare_model(model or ""), count) for _, model, count in counted.recorded),
            loads=_by((load or "", count) for _, load, count in counted.observed),
            drills=_by(counted.drilled.items()),
            locations={
                one.value or "": one.phones
                for one in by_value(
                    "location",
                    {n: count for n, count in locations.items() if places is None or n in places},
                )
            },
            inactive=None if total is None else max(total - phones, 0),
            in_use=in_use,
            discovered=discovered,
            days=tuple(FleetDay(day, dict(outcomes)) for day, outcomes in sorted(days.items())),
        )

    async def count_days(self) -> None:
        """Count the deployments of days that are over, unless they are counted."""
        await count_days(self.database, self.clock())


class DaysTransaction(Protocol):
    """The store that counting days reads and writes."""

    @property
    def fleet(self) -> FleetStore: ...


async def count_days(database: ReadAndWrite[DaysTransaction], now: datetime) -> None:
    """Count the deployments of days that are over, in pieces, unless they are counted. Raises
    ``Unavailable``."""
    settled = timestamp(now - timedelta(days=_SETTLED_DAYS))[:10]
    async with database.read() as tx:
        begin = await tx.fleet.summed_until()
    while begin is not None and begin < settled:
        until = min(settled, (date.fromisoformat(begin) + _DAYS_AT_ONCE).isoformat())
        async with database.write(by=SYSTEM_ACTOR) as tx:
            await tx.fleet.sum_days(begin, until)
        begin = until


def _by(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Number of phones per value, the largest first; phones without a value are left out."""
    total: Counter[str] = Counter()
    for value, phones in counts:
        if value:
            total[value] += phones
    return dict(sorted(total.items(), key=lambda one: (-one[1], one[0])))


_LEASE_SECONDS = 60
_PIECE = 100
_DAY = timedelta(days=1)
_NO_ADDRESS = "The phone has not asked for its files yet: it has no recorded address."


def _shown(phone: Phone, identity: Identity) -> PlacedPhone:
    return record_of(
        PlacedPhone, phone, mac_confirmed=identity.is_confirmed, mac_note=identity.message
    )


@dataclass(frozen=True)
class ChangeFleet:
    """Each change is one transaction. It holds the leases of its phones, so no switch runs at the
    same time. The desk records the configuration of the phone, and the upkeep of desks deploys it,
    as after a crash."""

    database: ReadAndWrite[FleetTransaction]
    information: PhoneInformation
    clock: Clock
    new_id: NewId

    async def adopt(self, actor: Actor, mac: str, new: AdoptPhone) -> PlacedPhone:
        """Add a discovered phone to the inventory, with its observed model, and the address that
        the caller names or that requested its files. The phone is asked for its MAC address; if it
        does not state it and the caller names no address, the address is not confirmed. A profile
        becomes its default profile.

        Raises ``Forbidden``; ``NotFound`` if the phone is not discovered, or the profile does not
        exist; ``Conflict`` if it is in the inventory, or the profile does not fit;
        ``SeveralAddresses``; ``Invalid`` for an address that did not ask.
        """
        require_superadmin(actor)
        mac, now = known_mac(mac), timestamp(self.clock())
        async with self.database.read() as tx:
            seen = require(await tx.discovered_phones.find(mac), "discovered phone")
        ip, identity = await self._identified(mac, seen, new.phone_ip)
        assert ip is not None
        confirmed = identity.is_confirmed or new.phone_ip is not None
        model = seen.model or identity.model
        phone = phone_seen(mac, ip, model, now, new.name, new.location, address_confirmed=confirmed)
        async with self.database.write(by=actor) as tx:
            await tx.phones.add(phone)
            await tx.flush()
            if new.profile_uuid is not None:
                patch = DeskPatch(default_profile_uuid=new.profile_uuid)
                await configure(tx, mac, patch)
                desk = await tx.desks.find(mac)
                await tx.desks.put(desk.changing(self.new_id()))
            fields: dict[str, Value] = {"mac_confirmed": identity.is_confirmed}
            tx.trail.note(Event("phone.adopted", "phone", mac, fields))
        return _shown(phone, identity)

    async def _identified(
        self, mac: str, seen: DiscoveredPhone | None, named: str | None
    ) -> tuple[str | None, Identity]:
        """The address of a new phone, and the MAC, model and firmware that it states there."""
        ip = address_of_new(seen, named, timestamp(self.clock() - _DAY))
        if ip is None:
            return None, Identity(False, _NO_ADDRESS)
        return ip, await identity_at(self.information, ip, mac)

    async def replace(self, actor: Actor, mac: str, by: ReplacePhone) -> PlacedPhone:
        """Let a new phone take the place of another: facts of the place, vendor flag, modules, and
        the desk with its default profile and the user that is logged in, whose profile it gets. The
        other phone becomes inactive, and restarts like one that its user has left. Its history can
        be read from both. The address of the new phone is found and confirmed as in ``adopt``.

        Raises ``Forbidden``; ``NotFound``; ``Invalid`` if both are the same; ``Conflict`` if the
        new phone is in the inventory, the other one was replaced, or a switch of one is running;
        ``SeveralAddresses``.
        """
        require_superadmin(actor)
        mac, now = known_mac(mac), timestamp(self.clock())
        if mac == by.mac:
            raise wrong("mac", "must be another phone")
        async with self.database.read() as tx:
            require(await tx.phones.find(mac), "phone")
            seen = await tx.discovered_phones.find(by.mac)
        ip, identity = await self._identified(by.mac, seen, by.phone_ip)
        confirmed = identity.is_confirmed or by.phone_ip is not None
        async with self.database.write(by=actor) as tx:
            # In the order of MACs, so that two replacements of each other do not deadlock; before
            # the phone, in the order of a switch.
            fences = {
                one: await tx.leases.take(one, one, _LEASE_SECONDS) for one in sorted({mac, by.mac})
            }
            old = require(await tx.phones.find(mac), "phone")
            if None in fences.values():
                raise PhoneBusy
            after = None if old.is_active else await tx.replacements.successor(mac)
            if after is not None:
                raise AlreadyReplaced(
                    f"This phone was replaced by {after}; replace that one, or activate this one."
                )
            model = (seen.model if seen else None) or identity.model
            phone = successor(old, by.mac, now, ip=ip, model=model, confirmed=confirmed)
            await tx.phones.add(phone)
            await tx.flush()
            await tx.phones.put(replace(old, is_active=False, updated_at=now))
            await self._move(tx, old, by.mac)
            await tx.replacements.put(Replacement(by.mac, mac, now))
            fields: dict[str, Value] = {"mac": by.mac, "mac_confirmed": identity.is_confirmed}
            tx.trail.note(Event("phone.replaced", "phone", mac, fields))
            for one, fence in fences.items():
                await tx.leases.release(one, one, fence or 0)
            # The history of the new phone is that of both: no number is twice in it.
            await tx.leases.continue_after(by.mac, fences[mac] or 0)
        return _shown(phone, identity)

    async def _move(self, tx: FleetTransaction, old: Phone, to: str) -> None:
        """Move the records of a phone to another phone."""
        mac = old.mac
        flag = await tx.vendor_phones.find(mac)
        if flag is not None:
            await tx.vendor_phones.save(VendorPhoneRecord(to, flag.vendor, flag.created_at))
            await tx.vendor_phones.remove(mac)
        while kems := await tx.kems.rows(_PIECE, owner=mac):
            for kem in kems:
                await tx.kems.put(replace(kem, connected_phone=to))
        desk = await tx.desks.find(mac)
        await tx.desks.find(to)  # The new phone may have an old desk, which is locked here.
        is_to_change = desk.user_uuid or desk.default_profile_uuid
        moved = replace(
            desk.settled(),
            mac=to,
            version=desk.version + 1,
            change_uuid=self.new_id() if is_to_change else None,
            change_user_uuid=desk.user_uuid,
        )
        await tx.desks.remove(mac)
        if old.is_active and not speaks_sip(old.software_type):
            # It restarts, if it still can, so that it loses its lines.
            await tx.desks.put(DeskRecord(mac).left(not_before=0))
        await tx.desks.put(moved)
        tx.trail.changed(to, None, moved)
        if await tx.served_files.remove_of(mac):
            tx.trail.note(Event("served_file.deleted", "served_file", mac))
