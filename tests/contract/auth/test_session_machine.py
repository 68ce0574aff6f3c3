"""Any sequence of logins, refreshes, logouts, changes to accounts and moments leaves the same
sessions as a model of plain dicts."""

import asyncio
import tempfile
from collections.abc import Awaitable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contract.auth.session_model import CLOSED, REFUSED, SessionModel, Token
from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_adapters.security.crypto import JwtTokens, KeyedTokens
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Invalid, TooManyAttempts, Unauthenticated
from phoneprov_core.people.access import CreateAssignment, CreatePermission
from phoneprov_core.people.auth.login import Login
from phoneprov_core.people.auth.model import (
    Credentials,
    Lifetimes,
    LogoutRequest,
    RefreshRequest,
    TokenPair,
)
from phoneprov_core.people.auth.sessions import Authenticate, Logout, Refresh
from phoneprov_core.people.permissions import Permissions, UserPermissions
from phoneprov_core.people.users.model import AccountPolicy, CreateUser, UserPatch
from phoneprov_core.people.users.use_cases import Users
from support.keys import NEW_KEYS
from support.scale import rounds
from support.stores import DATABASES

T = TypeVar("T")

PASSWORDS = ("correct horse battery", "another horse battery")
LEVELS = (None, 0, 1)
LIFETIMES = {"access": 20, "refresh_idle": 50, "session": 120}
ROOT = Actor("the person at the machine", 0, level_rule=LevelRule.STRICT)

names = st.sampled_from(("ada", "ada", "bob"))
passwords = st.sampled_from(PASSWORDS)
# Mostly moments: after a longer time few sessions remain.
seconds = st.sampled_from([1, 1, 1, 1, 4, 5, 19, 20, 30, 49, 50, 120, 900])
# An index into the existing items, small ones preferred; see ``_pick``.
first_preferred = st.integers(0, 2) | st.integers(0, 100)


class Service:
    """The use cases of sessions, over one database."""

    def __init__(self, database: Database, lifetimes: Lifetimes) -> None:
        self.clock = clock = FixedClock()
        new_id, hasher, tokens = CountingIds(), PlainHasher(), JwtTokens(NEW_KEYS)
        policy = AccountPolicy(lambda password: False)
        self.login = Login(database, hasher, tokens, lifetimes, clock, new_id)
        self.refresh = Refresh(database, tokens, lifetimes, clock, new_id)
        self.logout = Logout(database, tokens, clock)
        self.authenticate = Authenticate(
            database, tokens, KeyedTokens(NEW_KEYS), LevelRule.STRICT, clock
        )
        self.users = Users(database, hasher, policy, clock, new_id)
        self.permissions = Permissions(database, clock, new_id)
        self.user_permissions = UserPermissions(database, clock, new_id)


class SessionsMachine(RuleBasedStateMachine):
    """The service and the model.

    An actor that is no account of either manages the accounts, so that one with level 0 always
    exists.
    """

    database_name: str

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.left = AsyncExitStack()
        folder = Path(self.left.enter_context(tempfile.TemporaryDirectory()))
        self.database: Database = self.run(
            self.left.enter_async_context(DATABASES[self.database_name](folder))
        )
        self.access: list[Token] = []
        self.refreshes: list[Token] = []
        self.levels: dict[int, str] = {}

    def run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return self.runner.run(awaited())

    def teardown(self) -> None:
        self.run(self.left.aclose())
        self.runner.close()

    @initialize(grace=st.sampled_from([0, 5]))
    def begin(self, grace: int) -> None:
        lifetimes = Lifetimes(reuse_grace=grace, **LIFETIMES)
        self.model = SessionModel(lifetimes)
        self.service = Service(self.database, lifetimes)
        for level in (0, 1):
            new = CreatePermission(level=level, name=f"level {level}")
            self.levels[level] = self.run(self.service.permissions.create(ROOT, new)).uuid
        # One account must always hold level 0; otherwise no other could lose it.
        self.create("root", PASSWORDS[0])
        self.assign("root", 0)
        for name in ("ada", "ada", "bob"):
            self.log_in(name)

    # Time

    @rule(seconds=seconds)
    def wait(self, seconds: int) -> None:
        self.service.clock.advance(seconds)
        self.model.now += seconds

    # Sessions

    @rule(name=names, password=passwords)
    def log_in_with(self, name: str, password: str) -> None:
        expected = self.model.log_in(name, password)

        credentials = Credentials(username=name, password=password)
        answer = self.run(_outcome(self.service.login(credentials)))

        if isinstance(expected, int):
            assert not isinstance(answer, str), answer
            self._issued(answer.tokens, answer.user.uuid, expected, 1)
        else:
            assert answer == expected

    @rule(name=names)
    def log_in(self, name: str) -> None:
        """Log in with the right password to an existing account, so that enough sessions exist."""
        self.create(name, PASSWORDS[0])
        self.log_in_with(name, self.model.accounts[name]["password"])

    @precondition(lambda self: self.refreshes)
    @rule(which=first_preferred)
    def refresh(self, which: int) -> None:
        self._refresh(self._pick(self.refreshes, which))

    @rule(name=names, wait=st.sampled_from([0, 0, 4, 5]))
    def use_again(self, name: str, wait: int) -> None:
        """Refresh with a recently exchanged token, which random choices rarely pick."""
        self.log_in(name)
        if self.refreshes:
            used = self.refreshes[-1]
            self._refresh(used)
            self.wait(wait)
            self._refresh(used)

    @precondition(lambda self: self.refreshes)
    @rule(which=first_preferred, times=st.integers(2, 4))
    def refresh_side_by_side(self, which: int, times: int) -> None:
        """Concurrent refreshes have the same outcome as sequential ones, in any order."""
        token = self._pick(self.refreshes, which)
        expected = [self.model.refresh(token) for _ in range(times)]

        request = RefreshRequest(refresh_token=token.text)
        answers = self.run(
            _gathered([_outcome(self.service.refresh(request)) for _ in range(times)])
        )

        pairs = [answer for answer in answers if isinstance(answer, TokenPair)]
        numbers = [answer for answer in expected if isinstance(answer, int)]
        assert len(pairs) == len(numbers) <= 1
        for pair, number in zip(pairs, numbers, strict=True):
            self._issued(pair, token.owner, token.session, number)

    def _refresh(self, token: Token) -> None:
        expected = self.model.refresh(token)

        request = RefreshRequest(refresh_token=token.text)
        answer = self.run(_outcome(self.service.refresh(request)))

        if isinstance(expected, int):
            assert isinstance(answer, TokenPair), answer
            self._issued(answer, token.owner, token.session, expected)
        else:
            assert answer == expected

    @precondition(lambda self: self.access)
    @rule(which=first_preferred, names=st.none() | first_preferred)
    def log_out(self, which: int, names: int | None) -> None:
        access = self._pick(self.access, which)
        refresh = None if names is None else self._pick(self.refreshes, names)
        expected = self.model.log_out(access, refresh)

        assert self.run(_outcome(self._log_out(access, refresh))) == expected

    async def _log_out(self, access: Token, refresh: Token | None) -> None:
        actor = await self.service.authenticate(access.text)
        named = LogoutRequest(refresh_token=refresh.text if refresh else None)
        await self.service.logout(actor, named)

    # Accounts

    def create(self, name: str, password: str) -> None:
        """Create or activate the account of this name."""
        if name in self.model.accounts:
            if not self.model.accounts[name]["active"]:
                self.set_active(name, (True,))
            return
        new = CreateUser(
            first_name=name,
            last_name="Lovelace",
            username=name,
            email=f"{name}@example.com",
            password=password,
        )
        user = self.run(self.service.users.create(ROOT, new))
        self.model.create(name, password, user.uuid)

    @rule(name=names, password=passwords, again=st.booleans())
    def delete(self, name: str, password: str, again: bool) -> None:
        """Delete an account; the next one of the same name has nothing of it."""
        if name in self.model.accounts:
            self.run(self.service.users.delete(ROOT, self._uuid(name)))
            self.model.delete(name)
        if again:
            self.create(name, password)

    @rule(name=names, states=st.sampled_from([(False,), (False, True)]))
    def set_active(self, name: str, states: tuple[bool, ...]) -> None:
        """Deactivate and activate an account: its ended sessions stay ended."""
        if name in self.model.accounts:
            for active in states:
                patch = UserPatch(is_active=active)
                self.run(self.service.users.update(ROOT, self._uuid(name), patch))
                self.model.set_active(name, active)

    @rule(name=names, level=st.sampled_from(LEVELS))
    def assign(self, name: str, level: int | None) -> None:
        account = self.model.accounts.get(name)
        if account is None or (level is None and account["level"] is None):
            return
        if level is None:
            self.run(self.service.user_permissions.remove(ROOT, account["uuid"]))
        else:
            new = CreateAssignment(user_uuid=account["uuid"], perm_uuid=self.levels[level])
            self.run(self.service.user_permissions.assign(ROOT, new))
        account["level"] = level

    @rule(name=names, password=passwords)
    def set_password(self, name: str, password: str) -> None:
        if name in self.model.accounts:
            patch = UserPatch(password=password)
            self.run(self.service.users.update(ROOT, self._uuid(name), patch))
            self.model.set_password(name, password)

    @precondition(lambda self: self.access)
    @rule(which=first_preferred, password=passwords)
    def set_own_password(self, which: int, password: str) -> None:
        """Change a password: the session of the change continues."""
        access = self._pick(self.access, which)
        if self.model.who(access) != (access.owner, 0):
            return
        actor = self.run(self.service.authenticate(access.text))
        patch = UserPatch(password=password)
        self.run(self.service.users.update(actor, actor.user_uuid, patch))
        (name,) = (n for n, a in self.model.accounts.items() if a["uuid"] == access.owner)
        self.model.set_password(name, password, by_session=access.session)

    # Invariants

    @invariant()
    def access_tokens_match_the_model(self) -> None:
        if self.access:
            self.run(self._compare())

    async def _compare(self) -> None:
        # The oldest tokens ended long ago; they are checked now and then.
        for token in {*self.access[-12:], *self.access[:2]}:
            answer = await _outcome(self.service.authenticate(token.text))
            if isinstance(answer, Actor):
                assert (answer.user_uuid, answer.level) == self.model.who(token)
            else:
                assert answer == self.model.who(token), token
        # Neither kind of token is accepted as the other, and a try has no effect.
        for token in self.refreshes[-1:]:
            assert await _outcome(self.service.authenticate(token.text)) == REFUSED
        for token in self.access[-1:]:
            request = RefreshRequest(refresh_token=token.text)
            assert await _outcome(self.service.refresh(request)) == REFUSED

    def _issued(self, pair: TokenPair, owner: str, session: int, number: int) -> None:
        now = self.model.now
        self.access.append(
            Token(pair.access_token, owner, session, number, now + LIFETIMES["access"])
        )
        self.refreshes.append(
            Token(pair.refresh_token, owner, session, number, now + LIFETIMES["refresh_idle"])
        )

    def _pick(self, tokens: list[Token], which: int) -> Token:
        """Tokens of valid sessions first, used ones too, the newest of them before the others: most
        issued tokens have ended, and show little."""
        living = [token for token in tokens if token.session in self.model.sessions]
        dead = [token for token in tokens if token.session not in self.model.sessions]
        ordered = [*dead, *living]
        return ordered[-1 - which % len(ordered)]

    def _uuid(self, name: str) -> str:
        return str(self.model.accounts[name]["uuid"])


async def _outcome(work: Awaitable[T]) -> T | str:
    """The result, or the model's name of the failure."""
    try:
        return await work
    except (Unauthenticated, Invalid):
        return REFUSED
    except TooManyAttempts:
        return CLOSED


async def _gathered(work: list[Coroutine[Any, Any, T]]) -> list[T]:
    return await asyncio.gather(*work)


@pytest.mark.parametrize("name", sorted(DATABASES))
def test_sessions_follow_the_model_for_any_sequence(name: str) -> None:
    machine = type("Machine", (SessionsMachine,), {"database_name": name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=rounds(20, 500),
            stateful_step_count=rounds(30, 60),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
