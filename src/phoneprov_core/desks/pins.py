"""Checking a PIN that was typed on a phone."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import msgspec
from msgspec import Struct

from phoneprov_core.auth.model import LoginFailure
from phoneprov_core.auth.ports import LoginJournal, ignore_failure
from phoneprov_core.auth.throttle import MOST_IN_A_ROW, Attempts
from phoneprov_core.desks.ports import DesksTransaction
from phoneprov_core.kernel.actor import Actor, anonymous
from phoneprov_core.kernel.errors import Unauthenticated, Unavailable
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis
from phoneprov_core.kernel.trail import Event, Value
from phoneprov_core.users.model import User, account_key
from phoneprov_core.vendor_users import PinHasher, guess_key


class _Found(Redacted, frozen=True):
    """An account, and the hash of its PIN; None without one."""

    user: User | None
    hash: Annotated[str | None, SECRET]


class _Guess(Struct, frozen=True):
    """The keys that a guess is counted under, in the order in which they are locked; the account,
    None for an unknown name; the phone, and the address that the request came from."""

    keys: list[str]
    user: User | None
    mac: str
    ip: str

    @property
    def actor(self) -> Actor:
        """The caller, who is not known yet."""
        actor = anonymous(self.ip)
        if self.user is None:
            return actor
        return msgspec.structs.replace(actor, username=self.user.username)


class _LockedError(Exception):
    """Rolls the counting back."""


@dataclass(frozen=True)
class CheckPin:
    """Finds the user by name and verifies the PIN.

    An unknown name, an inactive account, an account without a PIN, a wrong PIN and a lock cost
    the same time and raise the same error. Guesses are counted by user and by phone before the
    PIN is checked: 5 failures in 15 minutes lock for 30 seconds, doubling to 15 minutes; 100 in
    a row lock until a new PIN (the user) or an administrator (the phone) opens it. ``journal``
    is called for every refusal, with the reason ``wrong_pin`` or ``pin_locked``.
    """

    database: ReadAndWrite[DesksTransaction]
    hasher: PinHasher
    clock: Clock
    _: KW_ONLY
    journal: LoginJournal = ignore_failure

    async def __call__(self, name: str, pin: str, mac: str, ip: str) -> User:
        """The account of this username, or of the one user linked to this extension number.

        Raises ``Unauthenticated`` (code ``wrong_pin``); ``Unavailable`` if no PIN can be checked
        now, and then the guess does not count.
        """
        found = await self._find(name)
        # Unknown names count, too.
        of_user = guess_key(found.user.uuid if found.user else account_key(name))
        keys = sorted((of_user, phone_key(mac)))
        guess = _Guess(keys, found.user, mac, ip)
        is_allowed = await self._count(guess)
        try:
            is_right = await self.hasher.verify_pin(pin, found.hash or "")
        except Unavailable:
            if is_allowed:
                await self._take_back(guess)
            raise
        if not is_allowed:
            self.journal(LoginFailure(ip, "pin_locked"))
            raise wrong_pin()
        user = found.user
        if user is None or not user.is_active or found.hash is None or not is_right:
            await self._decide(guess)
            self.journal(LoginFailure(ip, "wrong_pin"))
            raise wrong_pin()
        async with self.database.write(by=guess.actor) as tx:
            for key in keys:
                await tx.attempts.clear(key)
        return user

    async def _find(self, name: str) -> _Found:
        async with self.database.read() as tx:
            named = await tx.users.by_username(name)
            linked = await tx.users.by_extension(name)
            user = named or linked
            pin = await tx.vendor_users.of_user(user.uuid if user else "")
        return _Found(user, pin.pin_code if pin else None)

    async def _count(self, guess: _Guess) -> bool:
        """Count a guess under every key, unless one of them is locked: False then, and nothing
        is counted."""
        try:
            async with self.database.write(by=guess.actor) as tx:
                for key in guess.keys:
                    now = millis(self.clock())
                    if await tx.attempts.begin(key, Attempts().counted(now)):
                        continue
                    count = await tx.attempts.of(key)
                    now = millis(self.clock())  # waiting for the row may have taken a while
                    if count.wait(now) or count.is_locked:
                        raise _LockedError
                    await tx.attempts.keep(key, count.counted(now))
        except _LockedError:
            return False
        return True

    async def _decide(self, guess: _Guess) -> None:
        """Count a guess as wrong. A name that no account has is not kept: it may be a PIN that
        was typed into the wrong field."""
        async with self.database.write(by=guess.actor) as tx:
            uuid = guess.user.uuid if guess.user else None
            tx.trail.note(Event("login.failed", "user", uuid, {"mac": guess.mac}))
            for key in guess.keys:
                count = (await tx.attempts.of(key)).decided(known=guess.user is not None)
                await tx.attempts.keep(key, count)
                seconds = count.wait(millis(self.clock()))
                if not seconds and count.in_a_row != MOST_IN_A_ROW:
                    continue
                fields: dict[str, Value] = {"seconds": seconds, "failures_in_a_row": count.in_a_row}
                if key == phone_key(guess.mac):
                    tx.trail.note(Event("login.locked", "desk", guess.mac, fields))
                else:
                    fields = {"mac": guess.mac, **fields}
                    tx.trail.note(Event("login.locked", "user", uuid, fields))

    async def _take_back(self, guess: _Guess) -> None:
        async with self.database.write(by=guess.actor) as tx:
            for key in guess.keys:
                count = await tx.attempts.of(key)
                await tx.attempts.keep(key, count.taken_back())


def phone_key(mac: str) -> str:
    """The key that guesses at a phone are counted under."""
    return guess_key(f"at {mac}")


def wrong_pin() -> Unauthenticated:
    """The one refusal of a name and a PIN."""
    return Unauthenticated(
        "The user or the PIN is wrong. After several failures, wait a while and try again.",
        code="wrong_pin",
    )
