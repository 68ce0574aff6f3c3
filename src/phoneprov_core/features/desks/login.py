"""Logging in at a phone with a PIN, and changing the PIN there."""

from dataclasses import dataclass

from msgspec import Struct

from phoneprov_core.features.desks.access import PageTokens, Purpose, user_in
from phoneprov_core.features.desks.change import Changed, ChangeDesk, login_change
from phoneprov_core.features.desks.model import AtPhone, DeskPolicy, DesksTransaction, NotLoggedIn
from phoneprov_core.features.desks.pins import CheckPin, wrong_pin
from phoneprov_core.features.desks.records import DeskChanged
from phoneprov_core.features.templates.recipes import best
from phoneprov_core.inventory.phones.model import Phone, misfit, software_type_of
from phoneprov_core.inventory.profiles.model import ProfileRecord
from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Forbidden, Invalid
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.users.model import User
from phoneprov_core.people.vendor_users import (
    PinHasher,
    VendorUser,
    WeakPin,
    guess_key,
    require_good_pin,
)
from phoneprov_core.switching.deployments.model import Action
from phoneprov_core.switching.deployments.order import require_allowed
from phoneprov_core.switching.errors import ProfileNotAllowed

_MOST_PROFILES = 100


class ProfileChoice(Struct, frozen=True):
    """Several profiles of a user fit the phone. ``token`` replaces the correct PIN."""

    profiles: tuple[ProfileRecord, ...]
    token: str
    user: User


@dataclass(frozen=True)
class LogInAtPhone:
    """Logs a user in: a switch to one of the user's profiles."""

    database: ReadAndWrite[DesksTransaction]
    check_pin: CheckPin
    change: ChangeDesk
    tokens: PageTokens
    policy: DeskPolicy
    clock: Clock

    def form(self, at: AtPhone) -> str:
        """The token of a login form. Raises ``Conflict`` for a phone without logins."""
        _require_hotdesk(at)
        return self.tokens.issue(Purpose.LOGIN, at.desk)

    async def __call__(
        self, at: AtPhone, name: str, pin: str, token: str
    ) -> Changed | ProfileChoice:
        """Log in with the only fitting profile, or offer the fitting profiles. Raises ``Conflict``
        for an old token, a phone without logins, a phone in a call, and a user without a fitting
        profile; ``Unauthenticated`` like ``CheckPin``; and everything that ``Deploy`` raises."""
        _require_hotdesk(at)
        self.tokens.read(Purpose.LOGIN, at.desk, token)
        user = await self.check_pin(name, pin, at.phone.mac, at.ip)
        fitting = await fitting_profiles(self.database, user, at.phone)
        if len(fitting) == 1:
            return await self._log_in(at, user, fitting[0].uuid)
        pin_hash = await pin_hash_of(self.database, user.uuid)
        proof = self.tokens.issue(Purpose.PROFILE, at.desk, user.uuid, pin_hash)
        return ProfileChoice(fitting, proof, user)

    async def choose(self, at: AtPhone, profile_uuid: str, token: str) -> Changed:
        """Log in with an offered profile. Raises like a login, and if the PIN was changed since."""
        _require_hotdesk(at)
        pin_hash = await pin_hash_of(self.database, user_in(token))
        user_uuid = self.tokens.read(Purpose.PROFILE, at.desk, token, pin_hash)
        user = await chosen_user(self.database, user_uuid, profile_uuid, at.phone)
        return await self._log_in(at, user, known_id(profile_uuid))

    async def _log_in(self, at: AtPhone, user: User, profile_uuid: str) -> Changed:
        if await self.change.is_in_call(at.phone):
            raise Conflict("This phone is in a call. Log in when it is over.", code="in_call")
        desk = login_change(self.policy, user.uuid, profile_uuid, at.desk, self.clock())
        order = await self.change.order(profile_uuid, at.phone, Action.LOGIN, desk)
        if order is None:
            raise no_profile()
        return await self.change.put_and_answer(actor_at(at.ip, user), order, user)


@dataclass(frozen=True)
class ChangePin:
    """Changes the PIN of the user that is logged in at the phone."""

    database: ReadAndWrite[DesksTransaction]
    check_pin: CheckPin
    hasher: PinHasher
    tokens: PageTokens
    clock: Clock
    new_id: NewId

    def form(self, at: AtPhone) -> str:
        """The token of the form. Raises ``Conflict`` while no user is logged in."""
        require_user(at)
        return self.tokens.issue(Purpose.PIN, at.desk)

    async def __call__(self, at: AtPhone, old: str, new: str, again: str, token: str) -> None:
        """Raises ``Conflict`` for an old token and while no user is logged in; ``Invalid`` for a
        PIN of the wrong length and for two different new ones; ``Unauthenticated`` for a wrong
        old PIN, which counts as a failed login."""
        user = require_user(at)
        self.tokens.read(Purpose.PIN, at.desk, token)
        try:
            values.pin_code(new)
        except ValueError:
            raise Invalid(
                "A PIN has 4 to 32 digits. Nothing was changed.", code="pin_length"
            ) from None
        if new != again:
            raise Invalid("The two new PINs differ. Nothing was changed.", code="pins_differ")
        if (await self.check_pin(user.username, old, at.phone.mac, at.ip)).uuid != user.uuid:
            raise wrong_pin()
        async with self.database.read() as tx:
            try:
                await require_good_pin(tx, user, new)
            except WeakPin as error:
                raise Invalid(error.message, code="weak_pin") from None
        hash_ = await self.hasher.hash_pin(new)
        made = VendorUser(self.new_id(), user.uuid, hash_, timestamp(self.clock()))
        async with self.database.write(by=actor_at(at.ip, user)) as tx:
            # The PIN before the desk: the deletion of the user locks both in this order.
            await tx.vendor_users.save(made)
            desk = await tx.desks.find(at.phone.mac)
            await tx.desks.put(desk.next_version(at.desk.version))
            await tx.attempts.clear(guess_key(user.uuid))


def require_user(at: AtPhone) -> User:
    """The user that is logged in. Raises ``NotLoggedIn``."""
    if at.user is None:
        raise NotLoggedIn("No user is logged in at this phone. Log in first.")
    return at.user


def require_own(at: AtPhone) -> User:
    """The logged-in user whose own records the phone shows. Raises ``NotLoggedIn``, and
    ``Forbidden`` at a phone without a recorded address: any device could claim to be it."""
    user = require_user(at)
    if not at.shows_own:
        raise Forbidden(
            "No address of this phone is recorded. Ask an administrator.", code="address_unknown"
        )
    return user


def actor_at(ip: str, user: User) -> Actor:
    """The user as the actor of a request from a phone; it holds no level."""
    return Actor(user.uuid, None, ip=ip, username=user.username)


async def pin_hash_of(database: ReadAndWrite[DesksTransaction], user_uuid: str) -> str:
    """The hash of the user's PIN, empty without one."""
    async with database.read() as tx:
        pin = await tx.vendor_users.of_user(user_uuid)
    return pin.pin_code if pin else ""


async def fitting_profiles(
    database: ReadAndWrite[DesksTransaction], user: User, phone: Phone
) -> tuple[ProfileRecord, ...]:
    """The profiles of a user that fit a phone. Raises ``Conflict`` (``no_profile``) without one."""
    async with database.read() as tx:
        profiles = await tx.profiles.rows(_MOST_PROFILES, owner=user.uuid)
        fitting = [
            one for one in profiles if not misfit(phone, one.compatible_models, one.software_type)
        ]
        if len(fitting) > 1:  # the only one is not offered but taken, or refused
            fitting = [one for one in fitting if await _has_text(tx, one, phone)]
    if not fitting:
        raise no_profile()
    return tuple(fitting)


async def chosen_user(
    database: ReadAndWrite[DesksTransaction], user_uuid: str, profile_uuid: str, phone: Phone
) -> User:
    """The user of a token, who chose one of the profiles that fit. Raises ``DeskChanged`` if the
    account was deleted, and as ``fitting_profiles``."""
    async with database.read() as tx:
        user = await tx.users.find(user_uuid)
    if user is None or not user.is_active:
        raise DeskChanged
    fitting = await fitting_profiles(database, user, phone)
    if known_id(profile_uuid) not in {profile.uuid for profile in fitting}:
        raise no_profile()
    return user


async def _has_text(tx: DesksTransaction, profile: ProfileRecord, phone: Phone) -> bool:
    """Whether a profile has a configuration that the phone may get: its own, or a variant."""
    newest = await tx.revisions.newest(profile.uuid)
    content = await tx.revisions.content(newest.uuid) if newest else None
    if newest is None or content is None:
        return False
    try:
        await require_allowed(tx.template_uses, content, phone)
    except ProfileNotAllowed:
        return False
    if newest.template is None:
        return True
    family = software_type_of(phone, profile.software_type)
    return best(await tx.templates.variants(newest.template), phone.model, family) is not None


def _require_hotdesk(at: AtPhone) -> None:
    if not at.desk.hotdesk:
        raise Conflict("Users cannot log in at this phone.", code="no_hotdesk")


def no_profile() -> Conflict:
    """The refusal of a user without a profile for a phone."""
    return Conflict(
        "You have no profile that fits this phone. Ask an administrator.", code="no_profile"
    )
