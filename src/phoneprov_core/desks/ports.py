"""Stores and services that desks need."""

from typing import Protocol

from phoneprov_core.auth.ports import LoginAttemptStore
from phoneprov_core.deployments.ports import DeploymentsTransaction, DeskSessions
from phoneprov_core.desks.model import DeskRecord, Due, ListedDesk, PhoneState
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.store import Rows
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_users import VendorUserStore


class NotLoggedIn(Conflict):
    """No user is logged in at the phone."""

    code = "not_logged_in"
    usual = "No user is logged in at this phone."


class DeskStore(DeskSessions, Protocol):
    """Desks, by canonical MAC. A phone without a record has the one that ``DeskRecord`` makes of
    its MAC. What a record names need not exist, now or later."""

    async def find(self, mac: str) -> DeskRecord:
        """The record. In a writing transaction no other changes it until the transaction
        ends."""

    async def configure(self, mac: str, default_profile_uuid: str | None, *, hotdesk: bool) -> None:
        """Set what an administrator chooses; everything else stays as it is."""

    async def at(self, mac: str) -> PhoneState | None:
        """A phone of the inventory with its flag, its desk and the user that is logged in there,
        by one query; None for a phone that is not in the inventory."""

    @property
    def all(self) -> Rows[ListedDesk]:
        """The desk of every phone of the inventory, in the order of phones. It belongs to the user
        that is logged in there. Users and profiles that were deleted are null."""

    async def release(self, mac: str, due: Due) -> bool:
        """End the use of the phone; a logout is due. Begins the next turn. Returns whether a
        user was logged in."""

    async def expire(self, now: str) -> int:
        """End every use whose end has come; an ``EXPIRY`` is due. Returns their number."""

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        """At most ``limit`` desks, by MAC, where a logout is due, or where a change is recorded
        whose deployment does not hold the phone's lease; without those that are postponed beyond
        ``now_ms`` (milliseconds since 1970). With those whose use ends at ``now``."""

    async def postpone(self, mac: str, until_ms: int) -> None:
        """Leave an unsettled desk alone until then."""

    async def settle(self, mac: str) -> None:
        """Nothing is due, and no change is recorded."""

    async def remove(self, mac: str) -> bool:
        """Forget the record. Returns whether there was one."""


class DesksTransaction(DeploymentsTransaction, Protocol):
    """Stores that desks read and write."""

    @property
    def users(self) -> UserStore: ...
    @property
    def desks(self) -> DeskStore: ...
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
