"""Service definitions in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_core.vendor_services.model import VendorService

VENDOR_SERVICES: Kind[VendorService] = Kind("service")


class MemoryVendorServices(MemoryStore[VendorService]):
    """Service definitions, by uuid."""

    kind = VENDOR_SERVICES
