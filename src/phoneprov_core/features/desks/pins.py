"""Checking a PIN that was typed on a phone."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import DesksTransaction
from phoneprov_core.kernel.actor import Actor, Event, Value, anonymous
from phoneprov_core.kernel.errors import Unauthenticated, Unavailable
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import Clock, Rate, ReadAndWrite
from phoneprov_core.kernel.values import address_key, millis
from phoneprov_core.people.auth.model import LoginFailure, LoginJournal, ignore_failure
from phoneprov_core.people.throttle import (
    MOST_IN_A_ROW,
    WINDOW,
    AddressLimit,
    Attempts,
    account_key,
)
from phoneprov_core.people.users.model import User
from phoneprov_core.people.vendor_users import PinHasher, guess_key

OUTSIDE = "pin outside the inventory"
"""The subject of guesses at phones that are not in the inventory, all together."""
_OUTSIDE = Rate(30, WINDOW)


class _Found(Redacted, frozen=True):
    """An account, and the hash of its PIN; None without one. ``is_phone`` is whether the phone is
    in the inventory."""

    is_phone: bool
    user: User | None
    hash: Annotated[str | None, SECRET]


class _Guess(Struct, frozen=True):
    """A guess: the account, None for an unknown name; the keys that the user's and the phone's
    guesses are counted under; the phone, the address that the request came from, and whether the
    phone is in the inventory."""

    user: User | None
    of_user: str
    of_phone: str
    mac: str
    ip: str
    is_phone: bool

    @property
    def actor(self) -> Actor:
        """The caller, who is not known yet."""
        actor = anonymous(self.ip)
        if self.user is None:
            return actor
        return replace(actor, username=self.user.username)


@dataclass(frozen=True)
class CheckPin:
    """Finds the user by name and verifies the PIN.

    An unknown name, an inactive account, an account without a PIN, a wrong PIN and a locked user
    cost the same time and raise the same error. A guess is counted by client address, by phone and
    by user before the PIN is checked; at phones outside the inventory by client network in the
    place of the phone, and 30 in 15 minutes for all of them. 5 failures of a user or a phone in 15
    minutes lock for 30 seconds, doubling to 15 minutes; 100 in a row lock until a new PIN (the
    user) or an administrator (the phone) opens it. While the address is over its limit or the phone
    is locked, no hash is computed. A right PIN clears the count of its user; the counts of the
    phone and of the address lose only this guess: with one PIN of their own, guessers could clear
    them at will. ``journal`` is called for every refusal, with the reason ``wrong_pin`` or
    ``pin_locked``.
    """

    database: ReadAndWrite[DesksTransaction]
    hasher: PinHasher
    clock: Clock
    limit: AddressLimit
    _: KW_ONLY
    journal: LoginJournal = ignore_failure

    async def __call__(self, name: str, pin: str, mac: str, ip: str) -> User:
        """The account of this username, or of the only user linked to this extension number. Its
        audit entry is recorded. Raises ``Unauthenticated`` (code ``wrong_pin``); ``Unavailable`` if
        no PIN can be checked now, and then the guess does not count."""
        if await self.limit.wait(ip):
            raise self._refusal(ip, "pin_locked")
        found = await self._find(name, mac)
        # Unknown names count, too.
        of_user = guess_key(found.user.uuid if found.user else account_key(name))
        # A client that makes up phones would have a new count for each.
        of_phone = phone_key(mac if found.is_phone else address_key(ip))
        guess = _Guess(found.user, of_user, of_phone, mac, ip, is_phone=found.is_phone)
        counted = await self._count(guess)
        if not counted:
            raise self._refusal(ip, "pin_locked")
        try:
            is_right = await self.hasher.verify_pin(pin, found.hash or "")
        except Unavailable:
            async with self.database.write(by=guess.actor) as tx:
                await self._take_back(tx, guess, counted)
            raise
        user, is_locked = found.user, of_user not in counted
        if user is None or not user.is_active or found.hash is None or is_locked or not is_right:
            await self._decide(guess, counted)
            raise self._refusal(ip, "pin_locked" if is_locked else "wrong_pin")
        by = Actor(user.uuid, None, ip, username=user.username)
        async with self.database.write(by=by) as tx:
            await self._take_back(tx, guess, [guess.of_phone])
            await tx.attempts.clear(of_user)
            tx.trail.note(Event("login.succeeded", "user", user.uuid, {"mac": mac}))
        return user

    def _refusal(self, ip: str, reason: str) -> Unauthenticated:
        self.journal(LoginFailure(ip, reason))
        return wrong_pin()

    async def _find(self, name: str, mac: str) -> _Found:
        async with self.database.read() as tx:
            named = await tx.users.by_username(name)
            linked = await tx.users.by_extension(name)
            # A number wins over a username that is equal: the username may be newer.
            user = named
            if linked:
                user = linked[0] if len(linked) == 1 else None
            pin = await tx.vendor_users.of_user(user.uuid if user else "")
            is_phone = await tx.phones.find(mac) is not None
        return _Found(is_phone, user, pin.pin_code if pin else None)

    async def _count(self, guess: _Guess) -> list[str]:
        """Count a guess by address, phone and user, in this order, in which the rows are locked.
        Returns the keys it counts under: none if the address or the phone is closed, and the
        phone's alone if the user is locked."""
        counted: list[str] = []
        async with self.database.write(by=guess.actor) as tx:
            if await self.limit.count(tx.rates, guess.ip):
                return counted
            if not guess.is_phone and await tx.rates.add(OUTSIDE, _OUTSIDE, millis(self.clock())):
                return counted
            for key in (guess.of_phone, guess.of_user):
                now = millis(self.clock())
                if not await tx.attempts.begin(key, Attempts().counted(now)):
                    count = await tx.attempts.of(key)
                    now = millis(self.clock())  # waiting for the row may have taken a while
                    count = count.settled(now)
                    if count.wait(now) or count.is_locked:
                        break
                    count = count.rested(now) if key == guess.of_phone else count
                    await tx.attempts.keep(key, count.counted(now))
                counted.append(key)
        return counted

    async def _decide(self, guess: _Guess, counted: list[str]) -> None:
        """Count a guess as wrong. An unknown username is not stored: it may be a PIN in the wrong
        field. An unknown phone is not stored either: clients can invent any number of phones."""
        async with self.database.write(by=guess.actor) as tx:
            uuid = guess.user.uuid if guess.user else None
            tx.trail.note(Event("login.failed", "user", uuid, {"mac": guess.mac}))
            for key in counted:
                count, now = await tx.attempts.of(key), millis(self.clock())
                is_known = guess.user is not None and (guess.is_phone or key == guess.of_user)
                count = count.decided(now, known=is_known)
                await tx.attempts.keep(key, count)
                seconds = count.wait(now)
                if not seconds and count.in_a_row != MOST_IN_A_ROW:
                    continue
                fields: dict[str, Value] = {"seconds": seconds, "failures_in_a_row": count.in_a_row}
                if key == guess.of_phone:
                    tx.trail.note(Event("login.locked", "desk", guess.mac, fields))
                else:
                    fields = {"mac": guess.mac, **fields}
                    tx.trail.note(Event("login.locked", "user", uuid, fields))

    async def _take_back(self, tx: DesksTransaction, guess: _Guess, counted: list[str]) -> None:
        """Do not count a guess by its address and under these keys."""
        await self.limit.take_back(tx.rates, guess.ip)
        if not guess.is_phone:
            await tx.rates.take_back(OUTSIDE)
        for key in counted:
            count = (await tx.attempts.of(key)).taken_back()
            if count.in_a_row:
                await tx.attempts.keep(key, count)
            else:
                await tx.attempts.clear(key)


def phone_key(mac: str) -> str:
    """The key that guesses at a phone are counted under."""
    return guess_key(f"at {mac}")


def wrong_pin() -> Unauthenticated:
    """The one refusal of a name and a PIN."""
    return Unauthenticated(
        "The user or the PIN is wrong. After several failures, wait a while and try again.",
        code="wrong_pin",
    )
