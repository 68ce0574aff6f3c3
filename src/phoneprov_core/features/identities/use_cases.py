"""Signing in with an OpenID Connect provider: an account belongs to issuer and subject, and is
never found by its e-mail address."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

from phoneprov_core.features.identities.model import (
    MOST_PENDING,
    PENDING_SECONDS,
    IdentitiesTransaction,
    Identity,
    IdentityProvider,
    NotAMember,
    NotLinked,
    PendingSignIn,
    ProviderClaims,
    ProviderReply,
    ProviderUnavailable,
    SignInExpired,
    SignInPolicy,
    SignInRefused,
    SignInSeal,
    TooManyGroups,
)
from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    Actor,
    Event,
    LevelRule,
    anonymous,
    require_superadmin,
)
from phoneprov_core.kernel.commands import command_of_texts, obey
from phoneprov_core.kernel.errors import Conflict, Invalid, TooManyAttempts, require
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, Rate, ReadAndWrite, listing
from phoneprov_core.kernel.values import address_key, known_id, millis, timestamp
from phoneprov_core.people.access import require_login
from phoneprov_core.people.auth.login import new_session, token_pair
from phoneprov_core.people.auth.model import (
    Lifetimes,
    LoginFailure,
    LoginJournal,
    TokenPair,
    Tokens,
    ignore_failure,
)
from phoneprov_core.people.throttle import GUESSES_PER_ADDRESS, AddressLimit, address_closed
from phoneprov_core.people.users.model import AccountPolicy, ImportedUser, User
from phoneprov_core.people.users.use_cases import add_user, created_user

_FAILURES = (SignInExpired, SignInRefused, NotAMember, NotLinked, ProviderUnavailable)

_ONCE = Rate(1, 2 * PENDING_SECONDS * 1000)


@dataclass
class ProviderSignIn:
    """Sign in with the provider, and connect one's own account with it.

    A person without an identity gets the account whose username is their name, if it is active,
    has no identity of this provider and does not hold level 0; who holds it connects the account
    from a session. Failures count by client address, apart from failures of passwords.
    """

    database: ReadAndWrite[IdentitiesTransaction]
    provider: IdentityProvider
    seal: SignInSeal
    tokens: Tokens
    lifetimes: Lifetimes
    policy: SignInPolicy
    accounts: AccountPolicy
    level_rule: LevelRule
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    guesses: int = GUESSES_PER_ADDRESS
    journal: LoginJournal = ignore_failure

    def __post_init__(self) -> None:
        self._limit = AddressLimit("sign-in", self.guesses, self.clock)
        # Any site can send a browser here with a reply to no sign-in: that closes nothing else.
        self._strays = AddressLimit("stray sign-in", self.guesses, self.clock)

    async def begin(self, kept: str = "", actor: Actor | None = None) -> tuple[str, str]:
        """The address of the provider, and what the browser keeps; ``kept`` is what it has. The
        ``actor`` connects their account. Raises ``ProviderUnavailable``; ``NeedsLogin`` for an
        actor without a session."""
        if actor is not None:
            require_login(actor)
        now = millis(self.clock())
        pending = PendingSignIn(
            state=self.seal.random(),
            nonce=self.seal.random(),
            verifier=self.seal.random(),
            expires_at=now + PENDING_SECONDS * 1000,
            user_uuid=actor.user_uuid if actor else "",
            session_uuid=(actor.session_uuid or "") if actor else "",
        )
        address = await self.provider.address(pending)
        others = [one for one in self.seal.open(kept) if now < one.expires_at]
        return address, self.seal.seal([*others, pending][-MOST_PENDING:])

    def without(self, kept: str, state: str) -> str:
        """What the browser keeps after the reply to a sign-in; empty if nothing is left."""
        others = [one for one in self.seal.open(kept) if one.state != state]
        return self.seal.seal(others) if others else ""

    async def finish(self, kept: str, reply: ProviderReply, ip: str) -> TokenPair | None:
        """The tokens of a new session; None if the caller of ``begin`` connected their account.
        Raises ``SignInExpired``, ``SignInRefused``, ``NotAMember``, ``NotLinked``,
        ``ProviderUnavailable``, and ``TooManyAttempts`` for the client address."""
        pending = self._pending(kept, reply.state)
        try:
            await self._count(self._limit if pending else self._strays, ip)
            if pending is None:
                raise SignInExpired
            return await self._finish(pending, reply, ip)
        except _FAILURES as error:
            async with self.database.write(by=anonymous(ip)) as tx:
                if isinstance(error, ProviderUnavailable):
                    await self._limit.take_back(tx.rates, ip)
                tx.trail.note(Event("login.failed", "user", None, {"code": error.code}))
            # A reply to no sign-in is not the fault of the client, nor is a provider that is away.
            if pending is not None and not isinstance(error, ProviderUnavailable):
                self.journal(LoginFailure(ip, error.code))
            raise
        except TooManyAttempts as error:
            self.journal(LoginFailure(ip, error.code))
            raise

    async def is_connected(self, actor: Actor) -> bool:
        """Whether the account of the actor has an identity of the provider."""
        async with self.database.read() as tx:
            return await tx.identities.is_linked(actor.user_uuid, self.policy.issuer)

    def _pending(self, kept: str, state: str) -> PendingSignIn | None:
        now = millis(self.clock())
        found = (one for one in self.seal.open(kept) if one.state == state)
        return next((one for one in found if now < one.expires_at), None)

    async def _count(self, limit: AddressLimit, ip: str) -> None:
        """Raises ``TooManyAttempts``."""
        wait = await limit.wait(ip)
        if not wait:
            async with self.database.write(by=anonymous(ip)) as tx:
                wait = await limit.count(tx.rates, ip)
        if wait:
            raise address_closed(wait)

    async def _finish(
        self, pending: PendingSignIn, reply: ProviderReply, ip: str
    ) -> TokenPair | None:
        now = millis(self.clock())
        async with self.database.write(by=anonymous(ip)) as tx:
            # The browser forgets a sign-in that was completed; a copy of its cookie does not.
            if await tx.rates.add(f"sign-in {pending.state}", _ONCE, now):
                raise SignInExpired
        if reply.failed:
            raise SignInRefused
        claims = await self.provider.claims(pending, reply, now)
        self._require_member(claims.groups)
        if pending.user_uuid:
            await self._connect(pending, claims, ip)
            return None
        try:
            opened = await self._sign_in(claims, ip)
        except (Conflict, NotLinked):
            opened = None
        if opened is None:
            # Another tab of the same person may have been faster; its account is found now.
            with suppress(Conflict):  # a name of the new account is in use
                opened = await self._sign_in(claims, ip)
        if opened is None:
            raise NotLinked
        return opened

    def _require_member(self, groups: Sequence[str] | None) -> None:
        if not self.policy.group:
            return
        if groups is None:
            raise TooManyGroups
        if self.policy.group not in groups:
            raise NotAMember

    async def _connect(self, pending: PendingSignIn, claims: ProviderClaims, ip: str) -> None:
        """Raises ``SignInExpired`` if the session of the caller ended, ``NotLinked`` if the person
        or the account is connected otherwise."""
        now = millis(self.clock())
        by = Actor(pending.user_uuid, None, ip, pending.session_uuid)
        try:
            async with self.database.write(by=by) as tx:
                principal = await tx.sessions.principal(pending.session_uuid, now)
                if principal is None or principal.user_uuid != pending.user_uuid:
                    raise SignInExpired
                found = await tx.identities.of(self.policy.issuer, claims.subject)
                if found is None:
                    await self._link(tx, pending.user_uuid, claims)
                elif found.user_uuid != pending.user_uuid:
                    raise NotLinked
                await self._limit.take_back(tx.rates, ip)
        except Conflict:
            raise NotLinked from None

    async def _sign_in(self, claims: ProviderClaims, ip: str) -> TokenPair | None:
        """None if the person got an account meanwhile. Raises ``NotLinked``, ``SignInRefused`` for
        an inactive account, and ``Conflict``."""
        async with self.database.read() as tx:
            user = await self._account(tx, claims)
        new = None if user else self._new_account(claims, ip)
        account = user or new
        if account is None:
            raise NotLinked
        by = Actor(account.uuid, None, ip, username=account.username)
        async with self.database.write(by=by) as tx:
            if new is not None:
                if await self._account(tx, claims) is not None:
                    return None
                await add_user(tx, new, self.accounts, None)
                await tx.flush()
            # The row is locked from here on: an account that is changed meanwhile is refused.
            await tx.users.find(account.uuid)
            current = await self._account(tx, claims)
            if current is None or current.uuid != account.uuid:
                raise NotLinked
            if await tx.identities.of(self.policy.issuer, claims.subject) is None:
                await self._link(tx, account.uuid, claims)
            return await self._open_session(tx, account.uuid, ip)

    async def _account(self, tx: IdentitiesTransaction, claims: ProviderClaims) -> User | None:
        """The account that the person signs in to, None if there is none yet. Raises ``NotLinked``
        if there is one that the person may not have."""
        identity = await tx.identities.of(self.policy.issuer, claims.subject)
        if identity is not None:
            return await tx.users.find(identity.user_uuid)
        user = await tx.users.by_username(claims.name) if claims.name else None
        if user is None:
            return None
        assigned = await tx.assignments.of_user(user.uuid)
        level = None if assigned is None else assigned.level
        is_linked = await tx.identities.is_linked(user.uuid, self.policy.issuer)
        if not user.is_active or is_linked or self.level_rule.holds(level, SUPERADMIN):
            raise NotLinked
        return user

    def _new_account(self, claims: ProviderClaims, ip: str) -> User | None:
        """The account of a person who has none; None if the settings or its fields forbid it."""
        if not self.policy.create:
            return None
        fields = {
            "username": claims.name,
            "email": claims.email,
            "first_name": claims.first_name or claims.name,
            "last_name": claims.last_name or claims.name,
        }
        try:
            command = command_of_texts(ImportedUser, fields)
            obey(self.accounts.rules_of_new, command)
        except Invalid:
            return None
        return created_user(command, self.new_id(), timestamp(self.clock()), ip, None)

    async def _link(self, tx: IdentitiesTransaction, user: str, claims: ProviderClaims) -> None:
        at = timestamp(self.clock())
        identity = Identity(self.new_id(), user, self.policy.issuer, claims.subject, at)
        await tx.identities.add(identity)
        await tx.flush()

    async def _open_session(self, tx: IdentitiesTransaction, user_uuid: str, ip: str) -> TokenPair:
        now = self.clock()
        user = await tx.users.logged_in(user_uuid, ip, timestamp(now))
        if user is None:
            raise SignInRefused
        session = new_session(self.new_id(), user.uuid, self.new_id(), now, self.lifetimes)
        await self._limit.take_back(tx.rates, ip)
        await tx.login_addresses.remember(user.uuid, address_key(ip), millis(now))
        await tx.sessions.start(session)
        tx.trail.note(Event("login.succeeded", "user", user.uuid, {"by": "oidc"}))
        return token_pair(
            self.tokens,
            session.uuid,
            user.uuid,
            access_id=self.new_id(),
            refresh_id=session.token_id,
            now=now,
            lifetimes=self.lifetimes,
        )


@dataclass(frozen=True)
class Identities:
    """Identities at providers: every caller reads and removes their own, level 0 the identities of
    all users."""

    database: ReadAndWrite[IdentitiesTransaction]

    async def all(
        self, actor: Actor, page: Page = None, user_uuid: str | None = None
    ) -> Listing[Identity]:
        """The identities of ``user_uuid``, by default of the caller, oldest first. Raises
        ``Forbidden`` and ``NotFound`` for another user."""
        async with self.database.read() as tx:
            owner = await _owner(tx, actor, user_uuid)
        return await listing(self.database.read, lambda tx: tx.identities, page, owner=owner)

    async def remove(self, actor: Actor, uuid: str, user_uuid: str | None = None) -> None:
        """Remove an identity of ``user_uuid``, by default of the caller, and end the other sessions
        of the account: the person may have opened them. Raises ``NeedsLogin`` for a caller with an
        API token, ``Forbidden`` and ``NotFound``."""
        require_login(actor)
        async with self.database.write(by=actor) as tx:
            # Locks the user: a sign-in with the identity comes before, and its session ends, or
            # after, and finds none.
            owner = await _owner(tx, actor, user_uuid)
            identity = await tx.identities.find(known_id(uuid))
            own = identity if identity and identity.user_uuid == owner else None
            await tx.identities.remove(require(own, "identity").uuid)
            for ended in await tx.sessions.end_all(owner, besides=actor.session_uuid):
                tx.trail.note(Event("session.ended", "session", ended))


async def _owner(tx: IdentitiesTransaction, actor: Actor, user_uuid: str | None) -> str:
    """The account whose identities are wanted."""
    if user_uuid is not None:
        require_superadmin(actor)
    return require(await tx.users.find(known_id(user_uuid or actor.user_uuid)), "user").uuid
