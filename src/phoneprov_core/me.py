"""The caller's own account, and phones with their details."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.access.model import PermissionLevel, PermissionName
from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kems import Kem
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite, Rows
from phoneprov_core.phones.model import Phone, PhoneFacts
from phoneprov_core.users.model import User
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_phones import VendorPhone
from phoneprov_core.vendor_users import VendorUser, VendorUserStore


class OwnPermission(Struct, frozen=True):
    """The caller's permission level and its name."""

    level: PermissionLevel
    perm_name: PermissionName


class MeProfile(User, frozen=True):
    """The caller's account with its permission and its PIN; each null if there is none."""

    permission: Annotated[
        OwnPermission | None, schema("Permission that the account is assigned; null without one")
    ]
    vendor_user: Annotated[
        VendorUser | None, schema("PIN of the account, as a hash; null without one")
    ]


class EnrichedPhone(PhoneFacts, frozen=True):
    """A phone with its vendor flag (null if there is none) and its KEMs, oldest first."""

    is_vendor: Annotated[
        bool, schema("Whether the phone is flagged as a vendor phone", examples=[True])
    ]
    vendor: Annotated[VendorPhone | None, schema("Vendor flag; null without one")]
    key_expansion_modules: Annotated[
        tuple[Kem, ...], schema("Key expansion modules connected to the phone, oldest first")
    ]


def enriched(phone: Phone, vendor: VendorPhone | None, kems: tuple[Kem, ...]) -> EnrichedPhone:
    """The phone with its flag, if any, and its KEMs."""
    return record_of(
        EnrichedPhone,
        phone,
        is_vendor=vendor is not None and vendor.vendor,
        vendor=vendor,
        key_expansion_modules=kems,
    )


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
        then uuid) as of one moment. One query, regardless of their number. Phones have no owner."""


# A phone may have many KEMs: long lists are read in pieces of fewer phones.
PIECE = 250


@dataclass(frozen=True)
class Me:
    """The caller's own account, and the records that they work with."""

    database: ReadAndWrite[MeTransaction]

    async def profile(self, actor: Actor) -> MeProfile:
        """The caller's account, permission and PIN."""
        async with self.database.read() as tx:
            user = found(await tx.users.find(actor.user_uuid), "user")
            assignment = await tx.assignments.of_user(actor.user_uuid)
            vendor_user = await tx.vendor_users.of_user(actor.user_uuid)
        permission = OwnPermission(assignment.level, assignment.perm_name) if assignment else None
        return record_of(MeProfile, user, permission=permission, vendor_user=vendor_user)

    async def phones(self, actor: Actor, page: Page = None) -> Listing[EnrichedPhone]:  # noqa: ARG002
        """Every phone of the inventory, oldest first: all callers may use any phone."""
        return await listing(self.database.read, lambda tx: tx.enriched_phones, page, piece=PIECE)
