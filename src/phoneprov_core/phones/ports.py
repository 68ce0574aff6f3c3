"""Store ports for phones and the records connected to them."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kems.ports import KemStore
from phoneprov_core.kernel.store import SearchedStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones.ports import VendorPhoneStore


class PhonesTransaction(Protocol):
    """Stores that the use cases of phones use. The key of a phone is its MAC in canonical form.
    Stores do not change each other: the use case deletes a phone's flag and disconnects its
    KEMs."""

    @property
    def phones(self) -> SearchedStore[Phone]: ...
    @property
    def kems(self) -> KemStore: ...
    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
