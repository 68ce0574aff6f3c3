"""The caller's own view of themselves."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.fields import Level, schema
from phoneprov_core.users.model import User
from phoneprov_core.vendor_users.model import VendorUser


class OwnPermission(Struct, frozen=True):
    """The caller's permission level and its name."""

    level: Level
    perm_name: Annotated[str, schema(examples=["superadmin"])]


class MeProfile(User, frozen=True):
    """The caller's account with its permission and its PIN; each null when there is none."""

    permission: OwnPermission | None
    vendor_user: VendorUser | None
