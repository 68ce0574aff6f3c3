"""The store that service definitions live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kernel.store import Store
from phoneprov_core.vendor_services.model import VendorService


class VendorServicesTransaction(Protocol):
    """What service definitions are kept in."""

    @property
    def vendor_services(self) -> Store[VendorService]: ...
