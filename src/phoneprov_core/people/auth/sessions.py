"""Sessions and their tokens: authentication by access token, refresh and logout; and the tokens of
other services, Asterisk and the collector of metrics, which the settings contain."""

import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol
from uuid import UUID, uuid5

from msgspec.structs import replace

from phoneprov_core.kernel.actor import (
    SYSTEM_ACTOR,
    Actor,
    Event,
    LevelRule,
    UseCaseTrail,
    anonymous,
    require_superadmin,
)
from phoneprov_core.kernel.commands import wrong
from phoneprov_core.kernel.errors import Unauthenticated, Unavailable, require
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    Rate,
    RateStore,
    ReadAndWrite,
    page_of,
)
from phoneprov_core.kernel.values import known_id, millis, timestamp
from phoneprov_core.people.access import require_login
from phoneprov_core.people.auth.login import token_pair
from phoneprov_core.people.auth.model import (
    AuthTransaction,
    Exchange,
    Lifetimes,
    LoginFailure,
    LoginJournal,
    LogoutRequest,
    OpenSession,
    RefreshRequest,
    SessionStore,
    TokenKind,
    TokenPair,
    Tokens,
    ignore_failure,
)
from phoneprov_core.people.me import PREFIX, TokenPrincipal, TokenSecrets
from phoneprov_core.people.throttle import TokenLimit


@dataclass(frozen=True)
class Authenticate:
    """Finds the account of an access token or an API token. Session or token, account, level and
    right are read on every call in one query: a session that ended in any process is refused at
    once."""

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    secrets: TokenSecrets
    level_rule: LevelRule
    clock: Clock
    # By API token, the minute that this process recorded last.
    _minutes: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    async def __call__(self, access_token: str, ip: str = "127.0.0.1") -> Actor:
        """Raises ``Unauthenticated``."""
        if access_token.startswith(PREFIX):
            return await self._with_api_token(access_token, ip)
        now = millis(self.clock())
        claims = self.tokens.read(TokenKind.ACCESS, access_token, now)
        async with self.database.read() as tx:
            principal = await tx.sessions.principal(claims.session_uuid, now)
        if principal is None or principal.user_uuid != claims.user_uuid:
            raise Unauthenticated("The session has ended; log in again.")
        actor = Actor(
            principal.user_uuid,
            principal.level,
            ip,
            claims.session_uuid,
            self.level_rule,
            principal.username,
        )
        return actor.having(principal.right, principal.locations)

    async def _with_api_token(self, token: str, ip: str) -> Actor:
        now = timestamp(self.clock())
        hashes = self.secrets.hashes(token)
        used = hashed = None
        async with self.database.read() as tx:
            for hashed in hashes:
                used = await tx.api_tokens.principal(hashed, now)
                if used is not None:
                    break
        if used is None:
            raise Unauthenticated("This API token is not valid, or has expired.")
        minute = f"{now[:16]}:00.000Z"
        if used.last_used_at is None or used.last_used_at < minute or hashed != hashes[0]:
            await self._record(used, minute, hashes[0])
        actor = Actor(
            used.user_uuid,
            used.level,
            ip,
            level_rule=self.level_rule,
            username=used.username,
            token=used.name,
            read_only=used.read_only,
        )
        return actor.having(used.right, used.locations)

    async def _record(self, used: TokenPrincipal, minute: str, hash_: str) -> None:
        """Record the use once a minute. If the database is read-only, the token is still
        accepted."""
        if self._minutes.get(used.uuid) == minute:
            return
        if len(self._minutes) >= _MOST_MINUTES:
            self._minutes.clear()
        self._minutes[used.uuid] = minute
        with suppress(Unavailable):
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.api_tokens.touch(used.uuid, minute, hash_)


_MOST_MINUTES = 10_000

SAME_BROWSER_MS = 20_000
"""How long a browser that lost the response gets the same successor again."""


@dataclass(frozen=True)
class Refresh:
    """Exchanges a refresh token once; a second use ends the session.

    A browser that is reloaded while the response is on its way presents the old token again. The
    successor for a ``browser`` follows from the old token and the browser, so that the same
    browser is given the same successor for a few seconds. A second use by anything else ends the
    session.
    """

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    lifetimes: Lifetimes
    clock: Clock
    new_id: NewId

    async def __call__(
        self, request: RefreshRequest, ip: str = "127.0.0.1", browser: str | None = None
    ) -> TokenPair:
        """``browser`` tells browsers apart; None for every other client. Raises
        ``Unauthenticated`` if the refresh token is not valid."""
        now = self.clock()
        moment = millis(now)
        claims = self.tokens.read(TokenKind.REFRESH, request.refresh_token, moment)
        successor = self.new_id()
        if browser is not None:
            successor = str(uuid5(UUID(claims.token_id), browser))
        async with self.database.write(by=Actor(claims.user_uuid, None, ip)) as tx:
            outcome = await exchange(
                tx.sessions,
                claims.session_uuid,
                claims.token_id,
                successor,
                now=moment,
                expires_at=moment + self.lifetimes.refresh_idle * 1000,
                grace=self.lifetimes.reuse_grace * 1000,
                again=0 if browser is None else SAME_BROWSER_MS,
            )
            if outcome is Exchange.REUSED:
                tx.trail.note(Event("session.reused", "user", claims.user_uuid))
        # Raised after the transaction, so that the end of the session is committed.
        if outcome not in {Exchange.DONE, Exchange.AGAIN}:
            raise Unauthenticated("The refresh token is no longer valid; log in again.")
        return token_pair(
            self.tokens,
            claims.session_uuid,
            claims.user_uuid,
            access_id=self.new_id(),
            refresh_id=successor,
            now=now,
            lifetimes=self.lifetimes,
        )


async def exchange(
    sessions: SessionStore,
    session_uuid: str,
    token_id: str,
    successor: str,
    *,
    now: int,
    expires_at: int,
    grace: int,
    again: int = 0,
) -> Exchange:
    """Exchange a refresh token of a session. ``Session.second_use`` decides about a token that is
    not the current one; a reused token ends the session. The token of an inactive account becomes
    invalid (``NO_SESSION``)."""
    is_active = await sessions.replace_token(
        session_uuid, token_id, successor, now=now, expires_at=expires_at
    )
    if is_active is not None:
        return Exchange.DONE if is_active else Exchange.NO_SESSION
    session = await sessions.find(session_uuid)
    if session is None:
        return Exchange.NO_SESSION
    outcome = session.second_use(token_id, successor, now, grace=grace, again=again)
    if outcome is Exchange.REUSED:
        await sessions.end(session_uuid)
    return outcome


@dataclass(frozen=True)
class Logout:
    """Ends one session of the caller, or all of them."""

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    clock: Clock

    async def __call__(self, actor: Actor, request: LogoutRequest) -> None:
        """Raises ``NeedsLogin`` for a caller with an API token; ``Invalid`` if the refresh token
        does not belong to the caller."""
        require_login(actor)
        session_uuid = self._named_session(actor, request)
        async with self.database.write(by=actor) as tx:
            user = await tx.users.find(actor.user_uuid)
            if user is not None:
                await tx.users.put(replace(user, last_logout_ip=actor.ip))
            which = "all" if session_uuid is None else "one"
            tx.trail.note(Event("session.ended", "user", actor.user_uuid, {"sessions": which}))
            if session_uuid is None:
                await tx.sessions.end_all(actor.user_uuid)
            else:
                await tx.sessions.end(session_uuid)

    def _named_session(self, actor: Actor, request: LogoutRequest) -> str | None:
        if request.refresh_token is None:
            return None
        try:
            now = millis(self.clock())
            claims = self.tokens.read(TokenKind.REFRESH, request.refresh_token, now)
        except Unauthenticated:
            claims = None
        if claims is None or claims.user_uuid != actor.user_uuid:
            raise wrong("refresh_token", "is not one of your refresh tokens")
        return claims.session_uuid


@dataclass(frozen=True)
class Sessions:
    """Sessions: every caller reads and ends their own sessions; level 0 reads and ends the sessions
    of all users."""

    database: ReadAndWrite[AuthTransaction]
    clock: Clock

    async def all(
        self, actor: Actor, page: Page = None, user_uuid: str | None = None
    ) -> Listing[OpenSession]:
        """The open sessions of ``user_uuid``, by default of the caller, oldest first. Raises
        ``Forbidden`` and ``NotFound`` for another user."""
        async with self.database.read() as tx:
            owner = await _owner(tx, actor, user_uuid)
            sessions = await tx.sessions.of_user(owner, millis(self.clock()))
        return page_of([one.opened(actor.session_uuid) for one in sessions], page)

    async def end(self, actor: Actor, uuid: str, user_uuid: str | None = None) -> None:
        """End a session of ``user_uuid``, by default of the caller. Raises ``NeedsLogin`` for a
        caller with an API token, ``Forbidden`` and ``NotFound``."""
        require_login(actor)
        async with self.database.write(by=actor) as tx:
            owner = await _owner(tx, actor, user_uuid)
            session = await tx.sessions.find(known_id(uuid))
            if session is not None and session.user_uuid != owner:
                session = None
            await tx.sessions.end(require(session, "session").uuid)
            tx.trail.note(Event("session.ended", "session", known_id(uuid)))


async def _owner(tx: AuthTransaction, actor: Actor, user_uuid: str | None) -> str:
    """The account whose sessions are requested."""
    if user_uuid is None:
        return actor.user_uuid
    require_superadmin(actor)
    return require(await tx.users.find(known_id(user_uuid)), "user").uuid


ONE_A_MINUTE = Rate(1, 60 * 1000)


class ServiceTokensTransaction(Protocol):
    """Stores that the check of service tokens uses."""

    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...


@dataclass
class CheckServiceToken:
    """Compares the token of a service. Each wrong token is logged, and one per minute and service
    is an audit entry; after 20 wrong ones from a client address in 15 minutes none of its tokens is
    compared."""

    database: ReadAndWrite[ServiceTokensTransaction]
    clock: Clock
    _: KW_ONLY
    journal: LoginJournal = ignore_failure

    def __post_init__(self) -> None:
        self._limit = TokenLimit(self.clock)

    async def __call__(self, service: str, token: str, sent: Sequence[bytes], ip: str) -> bool:
        """Whether one of the tokens that the client ``sent`` is the token of the service. None is
        no guess."""
        if not sent:
            return False
        if self._limit.is_closed(ip):
            self.journal(LoginFailure(ip, "token_locked"))
            return False
        known = token.encode()
        if any(hmac.compare_digest(one, known) for one in sent):
            return True
        self._limit.count(ip)
        self.journal(LoginFailure(ip, "wrong_token"))
        with suppress(Unavailable):
            async with self.database.write(by=anonymous(ip)) as tx:
                now = millis(self.clock())
                if not await tx.rates.add(f"service token {service}", ONE_A_MINUTE, now):
                    tx.trail.note(Event("service_token.failed", "service", service))
        return False
