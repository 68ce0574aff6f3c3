"""Changing one's own password."""

from dataclasses import KW_ONLY, dataclass

from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.commands import obey, wrong
from phoneprov_core.kernel.errors import TooManyAttempts, Unavailable, require
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock
from phoneprov_core.people.access import require_login
from phoneprov_core.people.auth.login import Guesses
from phoneprov_core.people.auth.model import (
    AuthTransaction,
    LoginFailure,
    LoginJournal,
    PasswordChange,
    WrongCredentials,
    ignore_failure,
)
from phoneprov_core.people.auth.throttle import GUESSES_PER_ADDRESS
from phoneprov_core.people.users.model import AccountPolicy, PasswordHasher
from phoneprov_core.people.users.use_cases import clear_guesses


@dataclass
class ChangePassword:
    """Change the caller's own password. A wrong current password counts as a failed login."""

    database: ReadAndWrite[AuthTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    _: KW_ONLY
    guesses: int = GUESSES_PER_ADDRESS
    journal: LoginJournal = ignore_failure

    def __post_init__(self) -> None:
        self._counting = Guesses(self.database, self.clock, self.guesses)

    async def __call__(self, actor: Actor, change: PasswordChange) -> None:
        """The other sessions of the account end, with ``end_tokens`` its API tokens too. Raises
        ``NeedsLogin`` for a caller with an API token; ``Invalid`` for a wrong current password;
        ``TooManyAttempts`` as a login."""
        require_login(actor)
        obey(self.policy.rules, change)
        async with self.database.read() as tx:
            user = require(await tx.users.find(actor.user_uuid), "user")
            hash_ = await tx.users.password_hash(user.uuid)
        self.policy.require_own(change.password, user.username, user.email)
        caller = await self._counting.caller(user.username, actor.ip)
        try:
            async with self._counting.counted(caller):
                try:
                    is_right = await self.hasher.verify(change.current_password, hash_)
                    fresh = await self.hasher.hash(change.password) if is_right else None
                except Unavailable:
                    await self._counting.take_back(caller)
                    raise
                if fresh is None:
                    await self._counting.count_wrong(caller, user)
                    self.journal(LoginFailure(actor.ip, WrongCredentials.code))
                    raise wrong("current_password", "is not the current password")
        except TooManyAttempts as error:
            self.journal(LoginFailure(actor.ip, error.code))
            raise
        async with self.database.write(by=actor) as tx:
            user = require(await tx.users.find(user.uuid), "user")
            if await tx.users.password_hash(user.uuid) != hash_:
                raise wrong("current_password", "was changed meanwhile")
            await tx.users.set_password_hash(user.uuid, fresh)
            for ended in await tx.sessions.end_all(user.uuid, besides=actor.session_uuid):
                tx.trail.note(Event("session.ended", "session", ended))
            if change.end_tokens:
                await tx.api_tokens.end_all(user.uuid)
            await clear_guesses(tx, user)
            await self._counting.limit.take_back(tx.rates, caller.ip)
