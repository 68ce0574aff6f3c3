"""The stores that the caller's own view is read from."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.me.model import EnrichedPhone
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_users.ports import VendorUserStore


class EnrichedPhoneStore(Protocol):
    """Every phone of the inventory, read together with what hangs on it."""

    async def count(self, owner: str | None = None) -> int:
        """How many phones there are. They belong to nobody: ``owner`` is None."""
        ...

    async def rows(
        self,
        limit: int,
        *,
        after: EnrichedPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[EnrichedPhone]:
        """The phones that ``Store.rows`` answers, in its order, each with its flag and its
        KEMs (oldest first, by creation, then uuid) as they stand together at one moment. In
        one question, however many there are."""
        ...


class MeTransaction(Protocol):
    """What the caller's own view is read from."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def enriched_phones(self) -> EnrichedPhoneStore: ...
