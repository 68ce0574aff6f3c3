"""The stores that the caller's own view is read from."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import Assignments
from phoneprov_core.users.ports import Users
from phoneprov_core.vendor_users.ports import VendorUsers


class MeTransaction(Protocol):
    """What the caller's own view is read from."""

    @property
    def users(self) -> Users: ...
    @property
    def assignments(self) -> Assignments: ...
    @property
    def vendor_users(self) -> VendorUsers: ...
