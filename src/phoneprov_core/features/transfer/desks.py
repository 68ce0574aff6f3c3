"""Desks as rows of a table: the default profile is named by its owner and its name, so that another
installation can import the table."""

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.features.desks.model import Desk, DeskPatch, EndsAt, Hotdesk, ListedDesk
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.transfer.model import TransferTransaction, named_user
from phoneprov_core.inventory.extensions import CHAN_SCCP, ExtensionSearch
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, record_of, wrong
from phoneprov_core.kernel.fields import MacAddress, OptionalLine
from phoneprov_core.kernel.ports import selected

_MOST_PROFILES = 1000
_PIECE = 500


class DeskRow(Struct, frozen=True):
    """What an administrator chose for a phone: the username of the owner and the name of the
    default profile, and the number of the desk itself."""

    created_at: str
    mac: str
    hotdesk: bool
    default_profile_user: str | None
    default_profile: str | None
    extension: str | None
    ends_at: str | None = None


class CreateDeskRow(Command, frozen=True, kw_only=True):
    """A row as it is written. Every phone has a desk, so that none is created."""

    mac: MacAddress
    hotdesk: Hotdesk = True
    default_profile_user: OptionalLine | None = None
    default_profile: OptionalLine | None = None
    extension: OptionalLine | None = None
    ends_at: EndsAt | None = None


class DeskRowPatch(Command, frozen=True, kw_only=True):
    """Changes to a desk."""

    hotdesk: Hotdesk | UnsetType = UNSET
    default_profile_user: OptionalLine | UnsetType | None = UNSET
    default_profile: OptionalLine | UnsetType | None = UNSET
    extension: OptionalLine | UnsetType | None = UNSET
    ends_at: EndsAt | UnsetType | None = UNSET


class DeskTable:
    """The desks of the inventory as rows."""

    def __init__(self, tx: TransferTransaction) -> None:
        self._tx = tx

    async def rows(
        self, limit: int, *, after: DeskRow | None = None, offset: int = 0, owner: str | None = None
    ) -> list[DeskRow]:
        """The desk of every phone, the oldest phone first."""
        last = None if after is None else _position(after)
        listed = await self._tx.listed_desks.rows(limit, after=last, offset=offset, owner=owner)
        return [
            record_of(
                DeskRow,
                one,
                hotdesk=one.desk.hotdesk,
                extension=one.number,
                ends_at=one.desk.ends_at,
            )
            for one in listed
        ]

    async def count(self, owner: str | None = None) -> int:
        """The number of desks."""
        return await self._tx.listed_desks.count(owner)

    async def find(self, key: str) -> DeskRow | None:
        """The desk of a phone of the inventory."""
        state = await self._tx.desks.at(key)
        if state is None:
            return None
        desk = state.desk
        profile = await self._tx.profiles.find(desk.default_profile_uuid or "")
        user = await self._tx.users.find(profile.user_uuid) if profile else None
        own = await self._tx.extensions.find(desk.extension_uuid or "")
        return DeskRow(
            state.phone.created_at,
            desk.mac,
            desk.hotdesk,
            user.username if user else None,
            profile.name if profile else None,
            own.extension if own else None,
            desk.ends_at,
        )

    async def update(self, actor: Actor, mac: str, patch: DeskRowPatch) -> None:  # noqa: ARG002
        """Raises ``Invalid`` and ``Conflict``."""
        await configure(self._tx, mac, await self.patch_of(patch))

    async def patch_of(self, patch: DeskRowPatch) -> DeskPatch:
        """The patch with the profile and the extension that the names mean. Raises ``Invalid``."""
        return DeskPatch(
            default_profile_uuid=await self._default(patch),
            hotdesk=patch.hotdesk,
            extension_uuid=await self._extension(patch.extension),
            ends_at=patch.ends_at,
        )

    async def _default(self, patch: DeskRowPatch) -> str | UnsetType | None:
        user, name = patch.default_profile_user or None, patch.default_profile or None
        if name is None and user is None:
            return UNSET if patch.default_profile is UNSET else None
        if not name or not user:
            missing = "default_profile_user" if name else "default_profile"
            raise wrong(missing, "is required: a profile is named by its user and its name")
        return await self._uuid_of(user, name)

    async def _uuid_of(self, username: str, name: str) -> str:
        owner = await named_user(self._tx.users, username, "default_profile_user")
        profiles = await self._tx.profiles.rows(_MOST_PROFILES, owner=owner)
        found = [profile.uuid for profile in profiles if profile.name == name]
        if len(found) != 1:
            many = f"{len(found)} profiles" if found else "no profile"
            raise wrong("default_profile", f"is the name of {many} of this user")
        return found[0]

    async def _extension(self, number: str | UnsetType | None) -> str | UnsetType | None:
        if number is UNSET or number is None:
            return number
        lines = selected(self._tx.extensions, ExtensionSearch(q=number, type=CHAN_SCCP))
        last = None
        while found := await lines.rows(_PIECE, after=last):
            for last in found:
                if last.extension == number:
                    return last.uuid
        raise wrong("extension", f"is not the number of an extension of the type {CHAN_SCCP}")


def _position(row: DeskRow) -> ListedDesk:
    desk = Desk(row.mac, None, row.hotdesk, None, None, None, None, None, None)
    return ListedDesk(row.created_at, row.mac, desk)
