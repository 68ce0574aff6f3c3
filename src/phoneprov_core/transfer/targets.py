"""The use cases that write the rows of a table, within one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.directory.ports import CompanyDirectoryTransaction, PersonalDirectoryTransaction
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions.use_cases import Extensions, ExtensionsTransaction
from phoneprov_core.kems.use_cases import Kems
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.field_types import Rule
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.store import Rows, Store
from phoneprov_core.kernel.times import Clock
from phoneprov_core.kernel.trail import Notes
from phoneprov_core.links.model import LinkStore
from phoneprov_core.phones.ports import PhonesTransaction
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.model import ProfileRecord
from phoneprov_core.transfer import sheets
from phoneprov_core.transfer.desks import DeskTable
from phoneprov_core.transfer.sheets import Sheet
from phoneprov_core.users.passwords import AccountPolicy, PasswordHasher, check_new_username
from phoneprov_core.users.ports import UsersTransaction
from phoneprov_core.users.use_cases import Users

T = TypeVar("T")


class TransferTransaction(
    UsersTransaction, ExtensionsTransaction, PhonesTransaction, CompanyDirectoryTransaction,
    PersonalDirectoryTransaction, Protocol,
):  # fmt: skip
    """Stores that imports and exports use."""

    @property
    def users(self) -> Any: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def deployments(self) -> DeploymentStore: ...
    @property
    def links(self) -> LinkStore: ...
    @property
    def trail(self) -> Notes: ...

    async def flush(self) -> None:
        """Execute deferred changes; raises their errors."""
        ...


@dataclass(frozen=True)
class Joined:
    """Lets use cases take part in an open transaction: their changes are committed or rolled back
    with it."""

    tx: TransferTransaction

    def read(self) -> AbstractAsyncContextManager[TransferTransaction]:
        """The stores of the transaction."""
        return self._join()

    def write(self, *, by: Actor) -> AbstractAsyncContextManager[TransferTransaction]:  # noqa: ARG002
        """The stores of the transaction, which has its actor."""
        return self._join()

    @asynccontextmanager
    async def _join(self) -> AsyncIterator[TransferTransaction]:
        yield self.tx


class Tools(Struct, frozen=True):
    """The dependencies of the use cases besides the stores."""

    hasher: PasswordHasher
    policy: AccountPolicy
    shared_write: SharedWrite
    clock: Clock
    new_id: NewId


class HashesMade:
    """A hasher with precomputed hashes: hashing takes long, and must not happen inside a
    transaction.

    Returns ``next_hash``, regardless of the password.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self.next_hash: str | None = None

    async def hash(self, password: str, *, first: bool = True) -> str:
        """The precomputed hash, or one that is computed now."""
        ready, self.next_hash = self.next_hash, None
        return ready if ready is not None else await self._hasher.hash(password, first=first)

    async def verify(self, password: str, hash_: str | None, *, first: bool = True) -> bool:
        """Not used by imports."""
        return await self._hasher.verify(password, hash_, first=first)

    def is_outdated(self, hash_: str) -> bool:
        """Not used by imports."""
        return self._hasher.is_outdated(hash_)


class Stored(Rows[Any], Protocol):
    """Where the records of a table are read."""

    async def find(self, key: str) -> Any:
        """The record, or None."""
        ...


class Target(NamedTuple):
    """The use cases for one kind of row. ``create`` takes the owner's uuid (empty for records
    without an owner) and a command; ``update`` the record's key and a command."""

    store: Stored
    create: Callable[[str, Any], Awaitable[object]]
    update: Callable[[str, Any], Awaitable[object]]
    hasher: HashesMade


def rules_of(sheet: Sheet, policy: AccountPolicy) -> dict[str, Rule]:
    """Rules that only the use case checks."""
    return {"password": policy.rule} if sheet is sheets.USERS else {}


def rules_of_new(sheet: Sheet) -> dict[str, Rule]:
    """Rules that existing records need not satisfy."""
    return {"username": check_new_username} if sheet is sheets.USERS else {}


def target_of(sheet: Sheet, tx: TransferTransaction, actor: Actor, tools: Tools) -> Target:
    """The use cases of a sheet, within the transaction."""
    stores = Joined(tx)
    hasher = HashesMade(tools.hasher)
    clock, new_id, shared = tools.clock, tools.new_id, tools.shared_write
    if sheet is sheets.PERSONAL_DIRECTORY:
        personal = PersonalDirectory(stores, clock, new_id)
        return Target(
            tx.personal_contacts,
            lambda owner, new: personal.create(actor, owner, new),
            lambda key, patch: personal.update(actor, key, patch),
            hasher,
        )
    if sheet is sheets.DESKS:
        table = DeskTable(tx)
        return Target(table, _no_new_desk, table.update, hasher)
    kinds: dict[str, tuple[Store[Any], Any]] = {
        "users": (tx.users, Users(stores, hasher, tools.policy, clock, new_id)),
        "extensions": (tx.extensions, Extensions(stores, clock, new_id)),
        "phones": (tx.phones, Phones(stores, shared, clock)),
        "kems": (tx.kems, Kems(stores, shared, clock, new_id)),
        "company-directory": (
            tx.company_contacts,
            CompanyDirectory(stores, shared, clock, new_id),
        ),
    }
    store, use_cases = kinds[sheet.name]
    return Target(
        store,
        lambda _, new: use_cases.create(actor, new),
        lambda key, patch: use_cases.update(actor, key, patch),
        hasher,
    )


async def _no_new_desk(_owner: str, _new: object) -> object:
    raise NotFound("There is no such desk.")
