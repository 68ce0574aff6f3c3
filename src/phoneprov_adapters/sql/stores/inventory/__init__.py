"""Stores of phones, extensions and profiles."""

from functools import cached_property

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.inventory.extensions import SqlExtensions, SqlLinks
from phoneprov_adapters.sql.stores.inventory.locations import SqlLocations
from phoneprov_adapters.sql.stores.inventory.phones import (
    SqlEnrichedPhones,
    SqlKems,
    SqlNotes,
    SqlPhones,
    SqlReplacements,
    SqlVendorPhones,
)
from phoneprov_adapters.sql.stores.inventory.profiles import (
    SqlProfiles,
    SqlRevisions,
    SqlWholeProfiles,
)
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.inventory import VENDOR_SERVICES


class InventoryStores:
    """The stores of phones, extensions and profiles."""

    _connection: Connection

    phones = cached_property(lambda self: SqlPhones(self._connection))
    replacements = cached_property(lambda self: SqlReplacements(self._connection))
    notes = cached_property(lambda self: SqlNotes(self._connection))
    kems = cached_property(lambda self: SqlKems(self._connection))
    vendor_phones = cached_property(lambda self: SqlVendorPhones(self._connection))
    enriched_phones = cached_property(lambda self: SqlEnrichedPhones(self._connection))
    vendor_services = cached_property(lambda self: SqlStore(self._connection, VENDOR_SERVICES))
    locations = cached_property(lambda self: SqlLocations(self._connection))
    profiles = cached_property(lambda self: SqlProfiles(self._connection))
    whole_profiles = cached_property(lambda self: SqlWholeProfiles(self._connection))
    revisions = cached_property(lambda self: SqlRevisions(self._connection, self.deployments))
    extensions = cached_property(lambda self: SqlExtensions(self._connection))
    links = cached_property(lambda self: SqlLinks(self._connection))
