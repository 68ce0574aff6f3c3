"""The store that vendor phone flags live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kernel.store import Store
from phoneprov_core.vendor_phones.model import VendorPhoneRecord


class VendorPhoneStore(Store[VendorPhoneRecord], Protocol):
    """At most one flag a phone, by the phone's MAC. The phone need not be in the
    inventory."""

    async def save(self, record: VendorPhoneRecord) -> None:
        """Put it in the place of the phone's current flag, which keeps its created_at, or
        where there is none; in one statement: racing callers leave exactly one."""
        ...


class VendorPhonesTransaction(Protocol):
    """What vendor phone flags are kept in."""

    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
