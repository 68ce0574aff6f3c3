"""Stores of the use cases of phones, and phones together with related records."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from phoneprov_core.inventory.kems import Kem, KemsTransaction
from phoneprov_core.inventory.phones.model import Phone, PhoneFacts, PhoneUse
from phoneprov_core.inventory.vendor_phones import VendorPhone, VendorPhonesTransaction
from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.store import SearchedStore


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
    phone's deployment with the largest number (``none`` without one), by ``user_uuid``, the user
    who is logged in at the phone, and by ``in_use``, whether a user is. It also sorts by
    ``last_outcome``, and by ``username``, ``profile_name``, ``state`` and ``seen_at`` of the use,
    phones without one last; such a list is read by offset.
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
