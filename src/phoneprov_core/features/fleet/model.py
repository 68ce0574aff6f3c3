"""Observations of the phones, the numbers of the fleet, and the stores of both."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import DeskStore, DesksTransaction
from phoneprov_core.features.fleet.states import Days, FleetState, SeenPhone, WatchedFile
from phoneprov_core.features.fleet.status import StateChange
from phoneprov_core.features.serving.model import DiscoveredPhone, DiscoveredPhoneStore
from phoneprov_core.inventory.phones.model import Phone, PhoneIp, PhoneName
from phoneprov_core.inventory.phones.use_cases import PhoneStore, PhonesTransaction, SignsOfLife
from phoneprov_core.kernel.commands import Command, wrong
from phoneprov_core.kernel.errors import Conflict, Problem
from phoneprov_core.kernel.fields import Location, MacAddress, Uuid, schema
from phoneprov_core.switching.deployments.ports import LeaseStore, ReplacementChain

NamedAddress = Annotated[
    PhoneIp,
    schema("Address of the phone; required if several asked for its files within a day"),
]


class AdoptPhone(Command, frozen=True, kw_only=True):
    """What a discovered phone becomes; every field is optional."""

    name: PhoneName | None = None
    location: Location | None = None
    profile_uuid: Annotated[Uuid, schema("Default profile of its desk")] | None = None
    phone_ip: NamedAddress | None = None


class ReplacePhone(Command, frozen=True, kw_only=True):
    """The phone that takes the place of another."""

    mac: Annotated[MacAddress, schema("MAC address of the new phone", examples=["001bd4654321"])]
    phone_ip: NamedAddress | None = None


class PlacedPhone(Phone, frozen=True, kw_only=True):
    """A phone that was adopted or took the place of another, and whether it is at its address."""

    mac_confirmed: Annotated[
        bool, schema("Whether the phone at its address stated its MAC address", examples=[True])
    ]
    mac_note: Annotated[
        str,
        schema(
            "What was found at its address",
            examples=["The phone at 10.0.0.31 states this MAC address."],
        ),
    ]


class Replacement(Struct, frozen=True):
    """A phone (``mac``) took the place of another (``earlier``)."""

    mac: str
    earlier: str
    created_at: str


class SeveralAddresses(Conflict):
    """Several addresses asked for the files of a phone within a day."""

    code = "several_addresses"
    usual = (
        "Several addresses asked for the files of this phone within a day: 10.0.0.31, 10.0.0.66. "
        "Look which one is the phone, and name it (phone_ip)."
    )
    usual_problems = (Problem("phone_ip", "is required: 10.0.0.31 or 10.0.0.66"),)


class AlreadyReplaced(Conflict):
    """Another phone took the place of this one."""

    code = "already_replaced"
    usual = "This phone was replaced by 00:1B:D4:65:43:21; replace that one, or activate this one."


def address_of_new(seen: DiscoveredPhone | None, named: str | None, since: str) -> str | None:
    """The address of a new phone: the named address, else the address that requested its files,
    else None. Raises ``SeveralAddresses`` if several asked since a moment; ``Invalid`` if a
    discovered phone never asked from the named one."""
    if seen is None:
        return named
    if named is not None:
        if named not in seen.addresses(""):
            raise wrong("phone_ip", "is not an address that asked for the files of this phone")
        return named
    addresses = seen.addresses(since)
    if len(addresses) > 1:
        raise SeveralAddresses(
            "Several addresses asked for the files of this phone within a day: "
            f"{', '.join(addresses)}. Look which one is the phone, and name it (phone_ip).",
            problems=(Problem("phone_ip", f"is required: {' or '.join(addresses)}"),),
        )
    return seen.client_ip


def successor(
    old: Phone, mac: str, now: str, *, ip: str | None, model: str | None, confirmed: bool = True
) -> Phone:
    """The phone that replaces ``old``: it takes over the facts of the place, not of the device.
    Address and firmware are the new device's: ``ip`` and ``model`` are known if it was
    discovered, else the model stays."""
    hostname = old.hostname
    if hostname is not None:
        hostname = hostname.replace(old.mac.replace(":", ""), mac.replace(":", ""))
    return replace(
        old,
        mac=mac,
        model=model or old.model,
        hostname=hostname,
        phone_ip=ip,
        address_confirmed=confirmed or ip is None,
        adopted_with_pin=False,
        software_version=None,
        is_active=True,
        created_at=now,
        updated_at=now,
    )


class ReplacementStore(ReplacementChain, Protocol):
    """Replacements of phones by other phones. A phone replaces at most one other phone. The phones
    need not be in the inventory."""

    async def put(self, replacement: Replacement) -> None:
        """Add a replacement, or overwrite the replacement of the same ``mac``."""

    async def successor(self, mac: str) -> str | None:
        """The phone that took the place of this one last and is in the inventory, or None."""


class CountedFleet(Struct, frozen=True):
    """Number of active phones by last outcome and model, and by the result of their last drill, and
    number of phones with states by state, model and load."""

    recorded: list[tuple[str, str | None, int]]
    observed: list[tuple[tuple[FleetState, ...], str | None, int]]
    drilled: Mapping[str, int] = {}


class FleetStore(SignsOfLife, Protocol):
    """Observations of phones, by canonical MAC, and the numbers of the fleet. An observation is
    deleted with its phone."""

    async def find(self, mac: str) -> SeenPhone | None:
        """The observation of a phone, or None."""

    async def put(self, seen: SeenPhone, *, is_change: bool) -> None:
        """Add or replace what is known of a phone; with ``is_change`` also add its state to the
        history. Raises ``NotFound`` if the phone is not in the inventory."""

    async def left(self, mac: str) -> bool:
        """Whether the phone is active and its current deployment belongs to an account that is
        inactive or was deleted."""

    async def history(self, mac: str, limit: int) -> list[StateChange]:
        """At most ``limit`` changes of the phone's state, newest first."""

    async def watched(self, after: str, limit: int) -> list[tuple[Phone, SeenPhone | None]]:
        """At most ``limit`` active phones with an address, by MAC, beginning after ``after``."""

    async def files(self, after: str, limit: int) -> list[WatchedFile]:
        """The files of the phones that ``watched`` returns, in the same order."""

    async def counts(self, places: Sequence[str] | None = None) -> CountedFleet:
        """The active phones in numbers; with ``places`` phones at these locations, and none
        by their drills. Those that ``left`` finds have ``USER_INACTIVE`` among their
        states."""

    async def summed_until(self) -> str | None:
        """The day before which deployments are counted by ``sum_days``: the day of the oldest
        deployment if none is counted, None without a deployment."""

    async def sum_days(self, begin: str, until: str) -> None:
        """Count the deployments of each day from ``begin``, which is ``summed_until``, up to the
        day before ``until``, and store the numbers. Concurrent calls have the effect of one."""

    async def days(self, since: str, until: str, places: Sequence[str] | None = None) -> Days:
        """The deployments of the days from ``since`` to ``until``: as ``sum_days`` stored them,
        else counted now. With ``places`` the kept deployments to phones that are at these
        locations now."""


class FleetTransaction(PhonesTransaction, DesksTransaction, Protocol):
    """Stores that adopting, replacing and watching phones reads and writes."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def replacements(self) -> ReplacementStore: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def fleet(self) -> FleetStore: ...

    async def flush(self) -> None:
        """Execute the changes that a store has deferred, with their errors."""


class Statistics(Struct, frozen=True):
    """Numbers of records. ``phones`` are the phones of the inventory, by ``active`` and
    ``inactive``; ``batches`` are batches that have not ended, by state; ``hotdesk_sessions`` are
    phones with a user who is logged in; ``fleet`` are active phones by their state; ``syncs`` are
    the moments of the last sync of each source of people, in milliseconds since 1970; ``drills``
    are active phones by the result of their last drill."""

    phones: Mapping[str, int]
    batches: Mapping[str, int]
    hotdesk_sessions: int
    fleet: Mapping[str, int] = {}
    syncs: Mapping[str, int] = {}
    drills: Mapping[str, int] = {}


class StatisticsStore(Protocol):
    """Numbers of records, counted when they are read."""

    async def read(self) -> Statistics:
        """The numbers now. A state without records is left out."""

    async def clock(self) -> int:
        """The database's own time, in milliseconds since 1970."""


class StatisticsTransaction(Protocol):
    """The store that monitoring reads."""

    @property
    def statistics(self) -> StatisticsStore: ...
