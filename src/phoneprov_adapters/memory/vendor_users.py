"""PINs in memory."""

from __future__ import annotations

import msgspec

from phoneprov_adapters.memory.records import Kind, OnRemove, Reference, Unique
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.vendor_users.model import VendorUser, VendorUserStore

VENDOR_USERS: Kind[VendorUser] = Kind(
    "PIN",
    key="user_uuid",
    unique=(Unique("uuid", "uuid", lambda pin: (pin.uuid,)),),
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)


class MemoryVendorUsers(VendorUserStore):
    """PINs, by user."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        return self._tables.of(VENDOR_USERS).get(user_uuid)

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        current = self._tables.of(VENDOR_USERS).get(vendor_user.user_uuid)
        if current is not None:
            vendor_user = msgspec.structs.replace(current, pin_code=vendor_user.pin_code)
        self._tables.put(VENDOR_USERS, vendor_user)
        before = None if current is None else vendor_user
        self._tables.trail.changed(
            vendor_user.user_uuid, before, vendor_user, secrets=("pin_code",) if before else ()
        )
        return vendor_user

    async def remove(self, user_uuid: str) -> bool:
        before = self._tables.of(VENDOR_USERS).get(user_uuid)
        if not self._tables.remove(VENDOR_USERS, user_uuid):
            return False
        self._tables.trail.changed(user_uuid, before, None)
        return True
