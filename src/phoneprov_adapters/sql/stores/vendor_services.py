"""Service definitions in SQL."""

from __future__ import annotations

from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import vendor_services
from phoneprov_core.vendor_services.model import VendorService


class SqlVendorServices(SqlStore[VendorService]):
    """Service definitions, by uuid."""

    records = Records(VendorService, vendor_services, one_name="service")
