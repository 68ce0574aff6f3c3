"""Desks for the API, and the logout at a phone."""

from dataclasses import dataclass

from msgspec.structs import replace

from phoneprov_core.features.desks.access import (
    IdentifyPhone,
    PageTokens,
    PhoneCredentials,
    Purpose,
    ServiceMenu,
)
from phoneprov_core.features.desks.adoption import AdoptAtPhone
from phoneprov_core.features.desks.change import Changed, ChangeDesk, FollowUp
from phoneprov_core.features.desks.login import ChangePin, LogInAtPhone, actor_at, require_user
from phoneprov_core.features.desks.model import (
    AtPhone,
    Desk,
    DeskLabel,
    DeskPatch,
    DesksTransaction,
    ListedDesk,
    NotLoggedIn,
    PhoneState,
)
from phoneprov_core.features.desks.pins import phone_key
from phoneprov_core.features.desks.records import DeskRecord, Due, end_use
from phoneprov_core.inventory.extensions import CHAN_SCCP
from phoneprov_core.inventory.phones.model import Phone, SummarySearch
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.kernel.actor import (
    Actor,
    Event,
    may_act_for,
    may_see_people,
    require_people,
    require_superadmin,
)
from phoneprov_core.kernel.commands import applied
from phoneprov_core.kernel.errors import Conflict, NotFound, require
from phoneprov_core.kernel.ports import Clock, Listing, Page, ReadAndWrite, listing
from phoneprov_core.kernel.values import known_mac, millis, timestamp
from phoneprov_core.people.access import places_of, require_at
from phoneprov_core.people.directory.use_cases import LookUp
from phoneprov_core.people.permissions import require_still_at
from phoneprov_core.people.vendor_users import GuessLock, lock_of
from phoneprov_core.switching.deployments.model import Action
from phoneprov_core.switching.deployments.order import DeploymentRequest, require_fitting


@dataclass(frozen=True)
class LogOut:
    """Puts the default profile back onto a phone. A phone in a call is not restarted until the call
    is over: the user is logged out at once, and the default profile follows."""

    database: ReadAndWrite[DesksTransaction]
    change: ChangeDesk
    tokens: PageTokens

    def form(self, at: AtPhone) -> str:
        """The token of the page that asks. Raises ``Conflict`` while no user is logged in."""
        require_user(at)
        return self.tokens.issue(Purpose.LOGOUT, at.desk)

    async def at_phone(self, at: AtPhone, token: str) -> Changed:
        """Log out at the phone. Raises ``Conflict`` for an old token and while no user is logged
        in, and everything that ``Deploy`` raises; the user stays logged in then."""
        user = require_user(at)
        self.tokens.read(Purpose.LOGOUT, at.desk, token)
        actor = actor_at(at.ip, user)
        begun = await self._begun(actor, at.phone, at.desk)
        if isinstance(begun, Changed):
            return begun
        return await self.change.put_and_answer(actor, begun)

    async def __call__(self, actor: Actor, mac: str) -> str:
        """Log out the user at a phone, and return its canonical MAC. Raises ``NotFound`` for an
        unknown phone, and for callers without level 0 that are not logged in there; ``Forbidden``
        out of the scope of a right; ``NotLoggedIn`` while no user is logged in; and everything that
        ``Deploy`` raises."""
        async with self.database.read() as tx:
            state = await tx.desks.at(known_mac(mac))
        if state is None or not _sees(actor, state):
            raise NotFound("There is no such desk.")
        if state.desk.user_uuid is None:
            raise NotLoggedIn
        by_right = not may_act_for(actor, state.desk.user_uuid)
        begun = await self._begun(actor, state.phone, state.desk, by_right=by_right)
        if isinstance(begun, Changed):
            begun.answered()
        else:
            await self.change.put(actor, begun)
        return state.phone.mac

    async def _begun(
        self, actor: Actor, phone: Phone, desk: DeskRecord, *, by_right: bool = False
    ) -> DeploymentRequest | Changed:
        """The order that puts the default profile back. ``Changed`` if none is carried out now: the
        phone is in a call, or has no default profile."""
        order = await self.change.default_order(desk, phone, Action.LOGOUT, desk.version)
        if order is not None:
            order = replace(order, by_right=by_right)
        if await self.change.is_in_call(phone):
            async with self.database.write(by=actor) as tx:
                if by_right:
                    known = require(await tx.phones.find(phone.mac), "desk")
                    await require_still_at(tx, actor, known)
                current = (await tx.desks.find(phone.mac)).next_version(desk.version)
                await end_use(tx, current, Due.LOGOUT)
                tx.trail.note(Event("desk.logout", "desk", phone.mac))
            return Changed(FollowUp.CALL if order else FollowUp.NOTHING, _nothing)
        return order or await self.change.leave(actor, phone, desk.version, by_right=by_right)


def _sees(actor: Actor, state: PhoneState) -> bool:
    """Whether the caller may see a desk. Raises ``Forbidden`` out of the scope of a right."""
    if may_act_for(actor, state.desk.user_uuid or ""):
        return True
    if may_see_people(actor):
        require_at(actor, state.phone)
    return may_see_people(actor)


def _without_names(one: ListedDesk) -> ListedDesk:
    return replace(one, number=None, default_profile_user=None, default_profile=None)


def _nothing() -> None:
    """The phone is called later."""


class NotALine(Conflict):
    """The number of a desk must be an extension of the type `chan_sccp`."""

    code = "not_a_line"
    usual = (
        "The extension 1001 is of the type chan_pjsip; the number of a desk must be of the type "
        "chan_sccp."
    )


@dataclass(frozen=True)
class Desks:
    """Desks: level 0 sees and configures all desks, other callers see the desks where they are
    logged in, and with a right the desks of phones in its scope."""

    database: ReadAndWrite[DesksTransaction]
    phones: Phones
    log_out_at_phone: LogOut
    clock: Clock

    async def listed(
        self, actor: Actor, page: Page = None, wanted: SummarySearch | None = None
    ) -> Listing[ListedDesk]:
        """The desk of every phone, the oldest phone first; without level 0 only desks where the
        caller is logged in, and desks in the scope of a right. The users and profiles named by the
        identifiers are included for callers who may see people. With a filter or an order they are
        the desks of the phones that ``Phones.used`` finds. Raises ``Forbidden`` like that."""
        if wanted in {None, SummarySearch()}:
            found = await self._whole(actor, page)
        else:
            assert wanted is not None
            phones = await self.phones.used(actor, page, wanted)
            found = await phones.joined(self._of_phones)
        return found if may_see_people(actor) else found.mapped(_without_names)

    async def _of_phones(self, phones: list[Phone]) -> list[ListedDesk]:
        macs = [phone.mac for phone in phones]
        async with self.database.read() as tx:
            desks = await tx.listed_desks.of(macs)
        return [desks[mac] for mac in macs if mac in desks]  # else it was deleted meanwhile

    async def _whole(self, actor: Actor, page: Page) -> Listing[ListedDesk]:
        if may_see_people(actor) and not actor.scope:
            return await listing(self.database.read, lambda tx: tx.listed_desks, page)
        owner = actor.user_uuid
        if not actor.scope:
            return await listing(self.database.read, lambda tx: tx.listed_desks, page, owner=owner)
        async with self.database.read() as tx:
            at = await places_of(actor, tx.phones) or ()
        return await listing(
            self.database.read, lambda tx: tx.listed_desks.at(at), page, owner=owner
        )

    async def get(self, actor: Actor, mac: str) -> Desk:
        """Raises ``NotFound``, also for a desk that the caller may not see; ``Forbidden`` for one
        out of the scope of a right."""
        async with self.database.read() as tx:
            state = await tx.desks.at(known_mac(mac))
            is_visible = state and _sees(actor, state)
            return await self._shown(tx, require(state if is_visible else None, "desk"))

    async def update(self, actor: Actor, mac: str, patch: DeskPatch) -> Desk:
        """Choose the default profile, the number of the desk, and whether users can log in; also
        opens the lock of the phone after wrong PINs. The phone keeps what it has until the next
        logout or restart. A right opens the lock, and chooses nothing.

        Raises ``Forbidden``; ``NotFound`` for an unknown phone, profile or extension; ``Conflict``
        for a profile that does not fit the phone, and for an extension that is no line of
        chan_sccp (code ``not_a_line``).
        """
        require_people(actor)
        if patch != DeskPatch():
            require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "desk")
            await require_still_at(tx, actor, phone)
            await configure(tx, phone.mac, patch)
        return await self.get(actor, mac)

    async def log_out(self, actor: Actor, mac: str) -> Desk:
        """Log out the user at a phone; the desk afterwards. Raises like ``LogOut``."""
        mac = await self.log_out_at_phone(actor, mac)
        async with self.database.read() as tx:
            return await self._shown(tx, require(await tx.desks.at(mac), "desk"))

    async def lock(self, actor: Actor, mac: str) -> GuessLock:
        """The lock of a phone after wrong PINs. Raises ``Forbidden``, ``NotFound``."""
        require_people(actor)
        now = millis(self.clock())
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "desk")
            require_at(actor, phone)
            attempts = await tx.attempts.seen(phone_key(phone.mac))
        return lock_of(attempts and attempts.rested(now), now)

    async def label(self, actor: Actor, mac: str) -> DeskLabel:
        """What is printed on the label of a phone. Raises ``Forbidden``, ``NotFound``."""
        require_people(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            require_at(actor, phone)
            desk = await tx.desks.find(phone.mac)
            own = await tx.extensions.find(desk.extension_uuid or "")
            default = await tx.profiles.find(desk.default_profile_uuid or "")
            of_owner = await tx.links.extensions.rows(1, owner=default.user_uuid) if default else []
        numbers = [one.extension for one in ([own] if own else of_owner)]
        return DeskLabel(phone.mac, phone.name, phone.location, next(iter(numbers), None))

    async def _shown(self, tx: DesksTransaction, state: PhoneState) -> Desk:
        desk = state.desk
        default = await tx.profiles.find(desk.default_profile_uuid or "")
        profile = await tx.profiles.find(desk.profile_uuid or "")
        used = state.user is not None and desk.is_used(timestamp(self.clock()))
        return Desk(
            mac=desk.mac,
            default_profile_uuid=default.uuid if default else None,
            hotdesk=desk.hotdesk,
            extension_uuid=desk.extension_uuid,
            ends_at=desk.ends_at,
            user_uuid=state.user.uuid if state.user and used else None,
            username=state.user.username if state.user and used else None,
            profile_uuid=profile.uuid if profile and used else None,
            since=desk.since if used else None,
            until=desk.until if used else None,
        )


async def configure(tx: DesksTransaction, mac: str, patch: DeskPatch) -> None:
    """Change the desk of a phone, and open its lock after wrong PINs. Raises ``NotFound`` and
    ``Conflict``."""
    phone = require(await tx.phones.find(mac), "desk")
    if isinstance(patch.default_profile_uuid, str):
        profile = require(await tx.profiles.find(patch.default_profile_uuid), "profile")
        if phone.is_active:
            require_fitting(profile, phone)
    if isinstance(patch.extension_uuid, str):
        extension = require(await tx.extensions.find(patch.extension_uuid), "extension")
        if extension.type != CHAN_SCCP:
            raise NotALine(
                f"The extension {extension.extension} is of the type {extension.type}; the number "
                f"of a desk must be of the type {CHAN_SCCP}."
            )
    # After profile and extension: the deletion of either locks both in this order.
    before = await tx.desks.find(mac)
    desk = applied(before, patch)
    await tx.desks.put(desk)
    await tx.attempts.clear(phone_key(mac))
    tx.trail.changed(mac, before, desk)
    if desk == before:
        tx.trail.note(Event("desk.unlocked", "desk", mac))


@dataclass(frozen=True, kw_only=True)
class PhoneServices:
    """The use cases of the phone's own pages."""

    identify: IdentifyPhone
    menu: ServiceMenu
    log_in: LogInAtPhone
    log_out: LogOut
    change_pin: ChangePin
    look_up: LookUp
    credentials: PhoneCredentials
    adopt: AdoptAtPhone
