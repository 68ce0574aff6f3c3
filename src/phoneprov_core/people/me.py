"""The caller's own account, and phones with their details."""

from dataclasses import dataclass
from typing import Annotated, Generic, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.ports import ReadAndWrite, Rows
from phoneprov_core.people.access import AssignmentStore, PermissionLevel, PermissionName
from phoneprov_core.people.permissions import OwnRight
from phoneprov_core.people.users.model import User
from phoneprov_core.people.users.use_cases import UserStore
from phoneprov_core.people.vendor_users import VendorUser, VendorUserStore


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
    rights: (
        Annotated[
            tuple[OwnRight, ...],
            schema("What the account may do beside its level; absent without a right"),
        ]
        | UnsetType
    ) = UNSET


PhoneT = TypeVar("PhoneT", bound=Struct)
"""Phones as the inventory shows them to their users."""


class MeTransaction(Protocol[PhoneT]):
    """Stores that the use cases of the caller use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def enriched_phones(self) -> Rows[PhoneT]:
        """Every phone of the inventory, each with its flag and its KEMs (oldest first, by creation,
        then uuid) as of one moment. One query, regardless of their number. Phones have no owner."""


# A phone may have many KEMs: long lists are read in pieces of fewer phones.
PIECE = 250


@dataclass(frozen=True)
class Me(Generic[PhoneT]):
    """The caller's own account, and the records that they work with."""

    database: ReadAndWrite[MeTransaction[PhoneT]]

    async def profile(self, actor: Actor) -> MeProfile:
        """The caller's account, permission, PIN and right."""
        async with self.database.read() as tx:
            user = require(await tx.users.find(actor.user_uuid), "user")
            assignment = await tx.assignments.of_user(actor.user_uuid)
            vendor_user = await tx.vendor_users.of_user(actor.user_uuid)
        permission = OwnPermission(assignment.level, assignment.perm_name) if assignment else None
        rights = UNSET if actor.right is None else (OwnRight("helpdesk", actor.scope),)
        return record_of(
            MeProfile, user, permission=permission, vendor_user=vendor_user, rights=rights
        )

    async def phones(self, actor: Actor, page: Page = None) -> Listing[PhoneT]:  # noqa: ARG002
        """Every phone of the inventory, oldest first: all callers may use any phone."""
        return await listing(self.database.read, lambda tx: tx.enriched_phones, page, piece=PIECE)
