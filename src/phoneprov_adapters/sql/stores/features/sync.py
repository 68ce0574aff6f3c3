"""Keys of directories in SQL."""

from functools import cached_property

import msgspec
from sqlalchemy import bindparam, delete, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import upsert
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.people import directory_keys, directory_sources
from phoneprov_core.features.sync.model import DirectoryKey, DirectoryKeyStore

_ALL = select(directory_keys).order_by(*directory_keys.primary_key.columns)
_PUT = upsert(directory_keys, ["source", "key", "kind"], "record_uuid")
_REMOVE = delete(directory_keys).where(
    directory_keys.c.source == bindparam("source"),
    directory_keys.c.key == bindparam("key"),
    directory_keys.c.kind == bindparam("kind"),
)
_FINISHED = upsert(directory_sources, ["source"], "finished_at")


class SqlDirectoryKeys(SqlQueries, DirectoryKeyStore):
    """Keys of directories, and when each source was last synchronised."""

    async def all(self) -> list[DirectoryKey]:
        return await self._all(DirectoryKey, _ALL)

    async def put(self, key: DirectoryKey) -> None:
        await self._connection.execute(_PUT, **msgspec.structs.asdict(key))

    async def remove(self, key: DirectoryKey) -> None:
        await self._connection.execute(_REMOVE, source=key.source, key=key.key, kind=key.kind)

    async def finished(self, source: str, at: int) -> None:
        await self._connection.execute(_FINISHED, source=source, finished_at=at)


class SyncStores:
    """The store of the keys of directories."""

    _connection: Connection

    directory_keys = cached_property(lambda self: SqlDirectoryKeys(self._connection))
