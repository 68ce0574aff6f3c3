"""Store ports for phones and the records connected to them."""

from collections.abc import Sequence
from typing import Protocol

from phoneprov_core.kems import KemsTransaction
from phoneprov_core.kernel.store import SearchedStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones import VendorPhonesTransaction


class ForgetDesk(Protocol):
    """The one method of desks that the inventory uses."""

    async def remove(self, mac: str) -> bool:
        """Forget who uses the phone, and its default profile. Returns whether anything was
        recorded."""


class PhoneStore(SearchedStore[Phone], Protocol):
    """Phones, by MAC.

    Besides the fields of a phone, ``matching`` filters by ``last_outcome``, the outcome of the
    phone's deployment with the largest number (``none`` without one), and by ``user_uuid``, the
    user who is logged in at the phone.
    """

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        """Those of ``macs`` that are not in the inventory, in their order. The number of queries is
        that of thousands of MACs."""


class PhonesTransaction(KemsTransaction, VendorPhonesTransaction, Protocol):
    """Stores that the use cases of phones use. The key of a phone is its MAC in canonical form.
    Stores do not change each other: the use case deletes a phone's flag and disconnects its
    KEMs."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> ForgetDesk: ...
