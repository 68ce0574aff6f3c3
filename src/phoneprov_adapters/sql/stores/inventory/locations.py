"""Locations in SQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Text, bindparam, select

from phoneprov_adapters.sql.engines.statements import json_items
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.columns import json_text
from phoneprov_adapters.sql.tables.inventory import LOCATIONS, locations
from phoneprov_core.inventory.locations import Location, LocationStore
from phoneprov_core.people.access import location_key

_KEYS = json_items(bindparam("keys", type_=Text())).table_valued("value")
_NAMED = select(*LOCATIONS.fields.columns).where(locations.c.name_key.in_(select(_KEYS.c.value)))


class SqlLocations(SqlStore[Location], LocationStore):
    """Locations, with the comparable forms of their names."""

    records = LOCATIONS

    def _row_of(self, entity: Location) -> dict[str, Any]:
        return {**super()._row_of(entity), "name_key": location_key(entity.name)}

    async def named(self, keys: Sequence[str]) -> list[Location]:
        rows = await self._connection.fetch_all(_NAMED, keys=json_text(keys))
        return [self._entity_of(row) for row in rows]
