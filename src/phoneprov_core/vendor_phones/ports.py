"""Store port for vendor phone flags."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kernel.store import Store
from phoneprov_core.vendor_phones.model import VendorPhoneRecord


class VendorPhoneStore(Store[VendorPhoneRecord], Protocol):
    """Vendor phone flags, by the phone's MAC. The phone need not be in the inventory."""

    async def save(self, record: VendorPhoneRecord) -> None:
        """Add or replace the flag of the phone, in one statement; an existing flag keeps its
        created_at. Of concurrent callers exactly one flag remains."""
        ...


class VendorPhonesTransaction(Protocol):
    """Stores that the use cases of vendor phone flags use."""

    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
