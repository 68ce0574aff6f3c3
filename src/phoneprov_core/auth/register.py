"""Registration of an account."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from phoneprov_core.auth.ports import AuthTransaction
from phoneprov_core.kernel.actor import Actor, anonymous
from phoneprov_core.kernel.commands import obey
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.levels import SUPERADMIN
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.users.model import Registration, User
from phoneprov_core.users.passwords import AccountPolicy, PasswordHasher
from phoneprov_core.users.use_cases import created_user


@dataclass(frozen=True)
class Register:
    """Create an account: for any caller where registration is public, else for a superadmin who
    creates one for another person."""

    database: ReadAndWrite[AuthTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    public: bool

    def require_open(self, actor: Actor | None) -> None:
        """Raises ``Forbidden`` if registration is not public and the caller does not hold level
        0."""
        if not (self.public or (actor is not None and actor.holds(SUPERADMIN))):
            raise Forbidden("Registration is closed; ask an administrator for an account.")

    async def __call__(
        self,
        actor: Actor | None,
        registration: Registration,
        ip: str = "127.0.0.1",
    ) -> User:
        """Raises ``Forbidden`` if registration is not public and the caller does not hold level 0;
        ``Conflict`` if the username or the e-mail address is in use."""
        self.require_open(actor)
        obey(self.policy.rules_of_new, registration)
        superadmin = actor is not None and actor.holds(SUPERADMIN)
        self.policy.require_own(registration.password, registration.username, registration.email)
        hash_ = await self.hasher.hash(registration.password, first=superadmin)
        created_by = actor.user_uuid if actor is not None and superadmin else None
        user = created_user(registration, self.new_id(), shown(self.clock()), ip, created_by)
        async with self.database.write(by=actor or anonymous(ip)) as tx:
            await tx.users.add(user)
            await tx.users.claim_looks(user.uuid, self.policy.looks(user.username))
            await tx.users.set_password_hash(user.uuid, hash_)
        return user
