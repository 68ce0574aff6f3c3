"""Counting of the guesses of a password, by account and by client address."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from phoneprov_core.auth.model import Locked, address_closed, login_closed
from phoneprov_core.auth.ports import AuthTransaction, Familiarity
from phoneprov_core.auth.throttle import (
    LONGEST_WAIT,
    MOST_IN_A_ROW,
    RECENT,
    WINDOW,
    Attempts,
    address_key,
)
from phoneprov_core.kernel.actor import anonymous
from phoneprov_core.kernel.rates import Rate
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis
from phoneprov_core.kernel.trail import Event
from phoneprov_core.users.model import User, account_key

_PAUSE = 0.03
"""Seconds between two reads of undecided guesses: about the duration of a hash."""


_REFUSED_AGAIN = 1000
"""Milliseconds for which an address that was refused is refused again without a write."""

REFUSAL_PAUSE = 0.5
"""Seconds before such a refusal is sent: a flood that waits for its responses is slowed down, and
leaves the processor to other logins."""

_MOST_REFUSED = 10_000
"""Maximum number of addresses that are kept for this."""


class Caller(Struct, frozen=True):
    """The keys that a guess is counted under, and the account's earlier logins."""

    account: str
    ip: str
    address: str
    familiar: Familiarity

    @property
    def subject(self) -> str:
        """The key of the rate limit on failures."""
        return f"login {self.address}"


class Guesses:
    """Counts guesses before their passwords are checked.

    ``limit`` is the maximum number of failures from a client address in 15 minutes, 0 for no limit.
    """

    def __init__(self, database: ReadAndWrite[AuthTransaction], clock: Clock, limit: int) -> None:
        self._database = database
        self._clock = clock
        self._rate = Rate(limit, WINDOW)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._refused: dict[str, tuple[int, int]] = {}

    async def caller(self, username: str, ip: str) -> Caller:
        """The keys of a client that logs in."""
        address = address_key(ip)
        since = millis(self._clock()) - RECENT
        async with self._database.read() as tx:
            familiar = await tx.login_addresses.familiarity(username, address, since)
        return Caller(account_key(username), ip, address, familiar)

    @asynccontextmanager
    async def counted(self, caller: Caller) -> AsyncIterator[None]:
        """Count a guess before its password is checked in the block.

        Raises ``TooManyAttempts`` if the account's login is closed or locked (code ``locked``), or
        if too many logins from the address failed.
        """
        await self._refuse_again(caller)
        # Every guess counts as failed until it is verified. If all logins of a busy account were
        # counted at once, many correct ones would have to retry: two at a time in this process.
        turns = self._turns.setdefault(caller.account, asyncio.Semaphore(2))
        async with turns:
            await self._count(caller)
            yield

    async def _count(self, caller: Caller) -> None:
        """If the login is closed by undecided guesses only, wait until they are decided."""
        while True:
            async with self._database.write(by=anonymous(caller.ip)) as tx:
                # The usual case: no failures are recorded, and one statement is enough.
                if await tx.attempts.begin(
                    caller.account, Attempts().counted(millis(self._clock()))
                ):
                    await self._count_address(tx, caller)
                    return
                attempts = await tx.attempts.of(caller.account)
                # Read the clock now: waiting for the row lock may have taken time.
                now = millis(self._clock())
                wait = attempts.wait(now)
                locked = attempts.is_locked and not caller.familiar.both
                if not wait and not locked:
                    await tx.attempts.keep(caller.account, attempts.counted(now))
                    await self._count_address(tx, caller)
                    return
            if not attempts.is_undecided(now):
                raise Locked(retry_after=LONGEST_WAIT // 1000) if locked else login_closed(wait)
            await asyncio.sleep(_PAUSE)

    async def _count_address(self, tx: AuthTransaction, caller: Caller) -> None:
        """Raises ``TooManyAttempts``."""
        now, force = millis(self._clock()), caller.familiar.both
        if wait := await tx.rates.add(caller.subject, self._rate, now, force=force):
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[caller.address] = now, wait
            raise address_closed(wait)

    async def _refuse_again(self, caller: Caller) -> None:
        """Raises ``TooManyAttempts`` if the address was refused a moment ago. Each refusal costs a
        write, and writes wait for each other: a flood from one address would delay the logins of
        all others by seconds."""
        if caller.familiar.both or caller.address not in self._refused:
            return
        since, wait = self._refused[caller.address]
        passed = millis(self._clock()) - since
        if 0 <= passed < min(_REFUSED_AGAIN, wait):
            await asyncio.sleep(REFUSAL_PAUSE)
            raise address_closed(wait - passed)
        del self._refused[caller.address]

    async def count_wrong(self, caller: Caller, user: User | None) -> None:
        """Count a guess as wrong. A name that no account has is not kept: it may be a password
        that was typed into the wrong field."""
        by, uuid = anonymous(caller.ip), None
        if user is not None:
            by, uuid = msgspec.structs.replace(by, username=user.username), user.uuid
        async with self._database.write(by=by) as tx:
            attempts = await tx.attempts.of(caller.account)
            attempts = attempts.decided(known=user is not None)
            await tx.attempts.keep(caller.account, attempts)
            tx.trail.note(Event("login.failed", "user", uuid))
            seconds = attempts.wait(millis(self._clock()))
            if seconds or attempts.in_a_row == MOST_IN_A_ROW:
                fields = {"seconds": seconds, "failures_in_a_row": attempts.in_a_row}
                tx.trail.note(Event("login.locked", "user", uuid, fields))

    async def take_back(self, caller: Caller) -> None:
        """Do not count a guess whose password could not be checked."""
        async with self._database.write(by=anonymous(caller.ip)) as tx:
            attempts = await tx.attempts.of(caller.account)
            await tx.attempts.keep(caller.account, attempts.taken_back())
            await tx.rates.take_back(caller.subject)
