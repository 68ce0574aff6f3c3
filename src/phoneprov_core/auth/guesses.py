"""Counting of the guesses of a password, by account and by client address."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from phoneprov_core.auth.model import Locked, address_closed, login_closed
from phoneprov_core.auth.ports import AuthTransaction, Familiarity
from phoneprov_core.auth.throttle import LONGEST_WAIT, MOST_IN_A_ROW, RECENT, AddressLimit, Attempts
from phoneprov_core.kernel.actor import anonymous
from phoneprov_core.kernel.addresses import address_key
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis
from phoneprov_core.kernel.trail import Event
from phoneprov_core.users.model import User, account_key

_PAUSE = 0.03
"""Seconds between two reads of undecided guesses: about the duration of a hash."""


class Caller(Struct, frozen=True):
    """The keys that a guess is counted under, and the account's earlier logins."""

    account: str
    ip: str
    address: str
    familiar: Familiarity


class Guesses:
    """Counts guesses before their passwords are checked.

    ``limit`` is the maximum number of failures from a client address in 15 minutes, 0 for no limit.
    """

    def __init__(self, database: ReadAndWrite[AuthTransaction], clock: Clock, limit: int) -> None:
        self._database = database
        self._clock = clock
        self.limit = AddressLimit("login", limit, clock)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

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
        if not caller.familiar.both and (wait := await self.limit.wait(caller.ip)):
            raise address_closed(wait)
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
        force = caller.familiar.both
        if wait := await self.limit.count(tx.rates, caller.ip, force=force):
            raise address_closed(wait)

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
            await self.limit.take_back(tx.rates, caller.ip)
