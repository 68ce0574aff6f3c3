"""Stores and services that desks need."""

from typing import Protocol

from phoneprov_core.auth.ports import LoginAttemptStore
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.desk_records import DeskRecords
from phoneprov_core.desks.model import ListedDesk, PhoneState
from phoneprov_core.extensions import Extension
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.store import Rows, Store
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_users import NumbersTransaction, VendorUserStore


class NotLoggedIn(Conflict):
    """No user is logged in at the phone."""

    code = "not_logged_in"
    usual = "No user is logged in at this phone."


class DeskStore(DeskRecords, Protocol):
    """The records of desks, and the phones that they belong to."""

    async def at(self, mac: str) -> PhoneState | None:
        """A phone of the inventory with its flag, its desk and the user that is logged in there,
        by one query; None for a phone that is not in the inventory."""


class DesksTransaction(DeploymentsTransaction, NumbersTransaction, Protocol):
    """Stores that desks read and write."""

    @property
    def users(self) -> UserStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def listed_desks(self) -> Rows[ListedDesk]: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...


class PageSigner(Protocol):
    """Signs what a page says, so that a phone cannot change it."""

    def sign(self, text: str) -> str:
        """A signature under the secret key: 22 characters of ``[A-Za-z0-9_-]``."""

    def is_signed(self, text: str, signature: str) -> bool:
        """Whether the signature belongs to the text, under any of the keys. Takes the same time
        for every wrong signature."""
