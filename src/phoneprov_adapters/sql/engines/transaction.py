"""All stores over one connection."""

from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Protocol

from sqlalchemy import Text, bindparam, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import claimed
from phoneprov_adapters.sql.stores.features.batches import BatchStores
from phoneprov_adapters.sql.stores.features.desks import DeskStores
from phoneprov_adapters.sql.stores.features.fleet import FleetStores
from phoneprov_adapters.sql.stores.features.history import HistoryStores
from phoneprov_adapters.sql.stores.features.identities import IdentityStores
from phoneprov_adapters.sql.stores.features.lines import LineStores
from phoneprov_adapters.sql.stores.features.rehearsal import RehearsalStores
from phoneprov_adapters.sql.stores.features.retention import RetentionStores
from phoneprov_adapters.sql.stores.features.serving import ServingStores
from phoneprov_adapters.sql.stores.features.sync import SyncStores
from phoneprov_adapters.sql.stores.features.templates import TemplateStores
from phoneprov_adapters.sql.stores.inventory import InventoryStores
from phoneprov_adapters.sql.stores.people import PeopleStores
from phoneprov_adapters.sql.stores.sealed import SqlSecrets
from phoneprov_adapters.sql.stores.switching import SwitchingStores
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.ports import ReadAndWrite

_CLAIM = select(claimed(bindparam("kind", type_=Text())))


class SqlTransaction(
    PeopleStores,
    InventoryStores,
    SwitchingStores,
    DeskStores,
    TemplateStores,
    BatchStores,
    FleetStores,
    HistoryStores,
    IdentityStores,
    LineStores,
    ServingStores,
    RetentionStores,
    SyncStores,
    RehearsalStores,
):
    """The stores of one transaction: those of each room. It satisfies the transaction protocol of
    every feature. A store is made when it is first used: a transaction uses few of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.trail = connection.trail

    async def flush(self) -> None:
        """Execute the changes that a store has deferred. Raises the errors of ``add`` and ``put``
        that are still to come."""
        await self._connection.flush()

    async def claim_import(self, kind: str) -> bool:
        """Claim the import of a kind of table for this writing transaction. False, at once, while
        another open transaction has the claim; where writers wait for each other it never is."""
        row = await self._connection.fetch_one(_CLAIM, kind=kind)
        return row is not None and bool(row[0])

    secrets = cached_property(lambda self: SqlSecrets(self._connection))


class Database(ReadAndWrite[SqlTransaction], Protocol):
    """A database with all stores. It is opened once, before it is used, and may be opened again
    after it was closed."""

    def write(self, *, by: Actor | None = None) -> AbstractAsyncContextManager[SqlTransaction]:
        """As in ``ReadAndWrite``. Without an actor nothing is recorded in the audit trail: for
        maintenance that changes no record of a user's."""

    async def open(self) -> None:
        """Open the database for reading and writing. Raises ``Unavailable``."""

    async def close(self) -> None:
        """Release all resources; committed data stay. Later reads and writes raise ``Unavailable``.
        Closing twice has no effect."""
