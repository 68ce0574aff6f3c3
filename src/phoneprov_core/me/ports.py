"""Store ports for the caller's own account and phones."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.store import Rows
from phoneprov_core.me.model import EnrichedPhone
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_users.ports import VendorUserStore


class MeTransaction(Protocol):
    """Stores that the use cases of the caller use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def enriched_phones(self) -> Rows[EnrichedPhone]:
        """Every phone of the inventory, each with its flag and its KEMs (oldest first, by creation,
        then uuid) as of one moment. One query, regardless of their number. Phones have no
        owner."""
        ...
