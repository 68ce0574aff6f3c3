"""Locations: what an emergency call from a phone there presents. Every account reads them,
superadmins write them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.inventory.phones.use_cases import PhoneStore
from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import Command, applied, record_of
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import Check, CreatedAt, RecordUuid, UpdatedAt, schema
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, Store, listing
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.access import (
    LOCATION_NAME,
    beginnings,
    is_within,
    location_key,
    location_name,
)

_NUMBER = r"^\+[0-9]{3,20}$"
_UNSEEN = rf"\x00-\x1f\x7f-\x9f{values.HIDDEN}"
_MOST_BYTES = 511
"""Bytes of a variable of an endpoint of PJSIP: Asterisk cuts the rest (chan_pjsip.c)."""
# The dialplan substitutes $ and \, and a quotation mark ends a text in an expression.
_PLACE = rf"[^\x22$\\{_UNSEEN}]"


def _emergency_number(value: str) -> str:
    if not re.fullmatch(_NUMBER, value, re.ASCII):
        raise ValueError("must be + and 3 to 20 digits, such as +493012345")
    return value


def _emergency_place(value: str) -> str:
    value = values.required_text(value).strip()
    if any(character in '$"\\' for character in value):
        raise ValueError('must not contain $, " or \\, which the dialplan substitutes')
    if len(value.encode()) > _MOST_BYTES:
        raise ValueError(f"must be at most {_MOST_BYTES} bytes in UTF-8: Asterisk cuts the rest")
    return value


Name = Annotated[
    str,
    Check(location_name),
    schema(
        "Name; unique without regard to case. Parts are separated by `/`: a phone has the values "
        "of the longest name that equals its location or is its beginning up to a `/`",
        minLength=1,
        maxLength=255,
        pattern=LOCATION_NAME,
        examples=["Berlin/3/301"],
    ),
]
EmergencyNumber = Annotated[
    str,
    Check(_emergency_number),
    schema(
        "Number that an emergency call presents; null: that of the next shorter name",
        pattern=_NUMBER,
        examples=["+493012345"],
    ),
]
EmergencyPlace = Annotated[
    str,
    Check(_emergency_place),
    schema(
        "Place that an emergency call presents; at most 511 bytes in UTF-8. Null: that of the next "
        "shorter name",
        minLength=1,
        maxLength=255,
        pattern=rf"^{_PLACE}*[^\s\x22$\\{_UNSEEN}]{_PLACE}*$",
        examples=["Hauptstr. 1, Berlin; third floor"],
    ),
]


class Location(Struct, frozen=True):
    """A location, and what an emergency call from there presents."""

    uuid: RecordUuid
    name: Name
    emergency_number: EmergencyNumber | None
    emergency_place: EmergencyPlace | None
    created_at: CreatedAt
    updated_at: UpdatedAt


class CreateLocation(Command, frozen=True, kw_only=True):
    """A location to be created."""

    name: Name
    emergency_number: EmergencyNumber | None = None
    emergency_place: EmergencyPlace | None = None


class LocationPatch(Command, frozen=True, kw_only=True):
    """Changes to a location."""

    name: Name | UnsetType = UNSET
    emergency_number: EmergencyNumber | UnsetType | None = UNSET
    emergency_place: EmergencyPlace | UnsetType | None = UNSET


class Emergency(Struct, frozen=True):
    """What an emergency call presents; null where no location says it."""

    number: str | None = None
    place: str | None = None


def emergency_of(location: str | None, known: Iterable[Location]) -> Emergency:
    """What an emergency call from a phone at ``location`` presents. Each value is that of the
    longest name that applies and has one."""
    by_key = {location_key(one.name): one for one in known}
    applying = [by_key[key] for key in beginnings(location) if key in by_key]
    return Emergency(
        next((one.emergency_number for one in applying if one.emergency_number), None),
        next((one.emergency_place for one in applying if one.emergency_place), None),
    )


NO_EMERGENCY = Emergency()
"""No location applies."""


class LocationStore(Store[Location], Protocol):
    """Locations, by uuid. ``location_key`` of their names is unique."""

    async def named(self, keys: Sequence[str]) -> list[Location]:
        """The locations whose names have these keys; one query by an index."""


class EmergenciesTransaction(Protocol):
    """The store that ``emergency_at`` uses."""

    @property
    def locations(self) -> LocationStore: ...


class LocationsTransaction(EmergenciesTransaction, Protocol):
    """Stores that the use cases of locations use."""

    @property
    def phones(self) -> PhoneStore: ...


async def emergency_at(tx: EmergenciesTransaction, phone: Phone) -> Emergency:
    """What an emergency call from a phone presents."""
    keys = beginnings(phone.location)
    return emergency_of(phone.location, await tx.locations.named(keys) if keys else ())


@dataclass(frozen=True)
class Locations:
    """Create, read, change and delete locations. No phone is restarted."""

    database: ReadAndWrite[LocationsTransaction]
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[Location]:  # noqa: ARG002
        """Every location, oldest first."""
        return await listing(self.database.read, lambda tx: tx.locations, page)

    async def get(self, actor: Actor, uuid: str) -> Location:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return require(await tx.locations.find(known_id(uuid)), "location")

    async def create(self, actor: Actor, new: CreateLocation) -> Location:
        """Raises ``Conflict`` for a name that is in use."""
        require_superadmin(actor)
        now = timestamp(self.clock())
        location = record_of(Location, new, uuid=self.new_id(), created_at=now, updated_at=now)
        async with self.database.write(by=actor) as tx:
            await tx.locations.add(location)
        return location

    async def update(
        self, actor: Actor, uuid: str, patch: LocationPatch
    ) -> tuple[Location, Location]:
        """The location before and after. Raises ``NotFound``, and ``Conflict`` for a name that is
        in use."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            before = require(await tx.locations.find(known_id(uuid)), "location")
            after = applied(before, patch, updated_at=timestamp(self.clock()))
            await tx.locations.put(after)
        return before, after

    async def delete(self, actor: Actor, uuid: str) -> Location:
        """The deleted location. Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            location = require(await tx.locations.find(known_id(uuid)), "location")
            await tx.locations.remove(location.uuid)
        return location

    async def moved(self, actor: Actor, before: Phone, after: Phone) -> list[str]:  # noqa: ARG002
        """The MAC of an active SCCP phone whose change of location changes its values, as
        ``showing`` says."""
        keys = {*beginnings(before.location), *beginnings(after.location)}
        async with self.database.read() as tx:
            known = await tx.locations.named([*keys]) if keys else []
        if emergency_of(before.location, known) == emergency_of(after.location, known):
            return []
        is_asked = after.is_active and not speaks_sip(after.software_type)
        return [after.mac] if is_asked else []

    async def showing(
        self, actor: Actor, before: Location | None, after: Location | None
    ) -> list[str]:
        """The MACs of the active SCCP phones whose values a change of a location changes: they have
        the new ones after their next registration. ``None`` for a location that does not exist. For
        a SIP phone the exchange asks at each call."""
        require_superadmin(actor)
        changed = before or after
        assert changed is not None
        everywhere = await listing(self.database.read, lambda tx: tx.locations)
        others = [one for one in await everywhere.everything() if one.uuid != changed.uuid]
        old, new = ([*others, one] if one else others for one in (before, after))
        async with self.database.read() as tx:
            texts = await tx.phones.counts("location", active_only=True)
        concerned = tuple(
            text
            for text in texts
            if any(one and is_within(text, one.name) for one in (before, after))
            and emergency_of(text, old) != emergency_of(text, new)
        )
        if not concerned:
            return []
        search = Search(filters=(("is_active", True), ("location", concerned)))
        phones = await listing(self.database.read, lambda tx: tx.phones.matching(search))
        return sorted(
            phone.mac for phone in await phones.everything() if not speaks_sip(phone.software_type)
        )
