"""Store port for service definitions."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kernel.store import Store
from phoneprov_core.vendor_services.model import VendorService


class VendorServicesTransaction(Protocol):
    """Stores that the use cases of service definitions use."""

    @property
    def vendor_services(self) -> Store[VendorService]: ...
