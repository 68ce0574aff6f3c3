"""Logging in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from phoneprov_core.auth.create_admin import CreateAdmin
from phoneprov_core.auth.errors import WrongCredentials
from phoneprov_core.auth.guesses import REFUSAL_PAUSE
from phoneprov_core.auth.model import Credentials, Lifetimes, TokenKind
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.times import millis, shown
from phoneprov_core.users.model import Registration, UserPatch, account_key
from phoneprov_core.users.passwords import AccountPolicy
from support.office import PASSWORD, Office, Settings


async def failures(office: Office, username: str = "ada") -> int:
    async with office.database.read() as tx:
        return (await tx.attempts.of(account_key(username))).failures


async def fail(office: Office, username: str = "ada", times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Unauthenticated):
            await office.log_in(username, "wrong password")


def meanwhile(
    office: Office, monkeypatch: pytest.MonkeyPatch, act: Callable[[], Awaitable[object]]
) -> None:
    """Let something happen while the password is being verified."""
    verify = office.hasher.verify

    async def slow_verify(password: str, hash_: str | None, *, first: bool = True) -> bool:
        right = await verify(password, hash_)
        await act()
        return right

    monkeypatch.setattr(office.hasher, "verify", slow_verify)


# The right password


async def test_login_returns_the_account_and_its_tokens(office: Office, ada: Actor) -> None:
    office.clock.advance(60)

    logged_in = await office.log_in("ada")

    assert logged_in.user.uuid == ada.user_uuid
    assert logged_in.user.last_login_ip == "10.1.2.3"
    assert logged_in.user.last_login_at == shown(office.clock())
    async with office.database.read() as tx:
        assert await tx.users.find(ada.user_uuid) == logged_in.user
    actor = await office.actor_of(logged_in)
    assert (actor.user_uuid, actor.level, actor.ip) == (ada.user_uuid, 1, "10.1.2.3")


async def test_login_username_ignores_case(office: Office, ada: Actor) -> None:
    assert (await office.log_in("ADA")).user.uuid == ada.user_uuid


async def test_token_lifetimes_follow_the_settings(office: Office, ada: Actor) -> None:
    logged_in = await office.log_in("ada")

    now = millis(office.clock())
    access = office.tokens.read(TokenKind.ACCESS, logged_in.tokens.access_token, now)
    refresh = office.tokens.read(TokenKind.REFRESH, logged_in.tokens.refresh_token, now)
    assert access.expires_at - access.issued_at == 15 * 60 * 1000
    assert refresh.expires_at - refresh.issued_at == 14 * 24 * 3600 * 1000
    assert access.session_uuid == refresh.session_uuid
    assert access.token_id != refresh.token_id
    assert access.user_uuid == refresh.user_uuid == ada.user_uuid


async def test_each_login_creates_a_session(office: Office, ada: Actor) -> None:
    one, other = await office.log_in("ada"), await office.log_in("ada")

    sessions = {(await office.actor_of(logged_in)).session_uuid for logged_in in (one, other)}
    assert len(sessions) == 2


async def test_session_ends_no_later_than_set() -> None:
    office = Office(Settings(lifetimes=Lifetimes(access=1000, refresh_idle=500, session=100)))
    await office.add_user("ada")
    logged_in = await office.log_in("ada")

    office.clock.advance(99)
    await office.actor_of(logged_in)
    office.clock.advance(1)
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)


async def test_login_outdated_hash_is_replaced(office: Office, ada: Actor) -> None:
    office.hasher.parameters = 2

    await office.log_in("ada")

    async with office.database.read() as tx:
        hash_ = await tx.users.password_hash(ada.user_uuid)
    assert hash_ is not None
    assert not office.hasher.is_outdated(hash_)
    await office.log_in("ada")


async def test_login_current_hash_is_kept(office: Office, ada: Actor) -> None:
    async with office.database.read() as tx:
        before = await tx.users.password_hash(ada.user_uuid)
    await office.log_in("ada")

    async with office.database.read() as tx:
        assert await tx.users.password_hash(ada.user_uuid) == before


# All failures have the same response


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("ada", "wrong password"),
        ("ada", ""),
        ("ada", PASSWORD + " "),
        ("ada", PASSWORD.upper()),
        ("unknown", PASSWORD),
        ("", ""),
        ("sleeper", PASSWORD),
        ("sleeper", "wrong password"),
        ("ada@example.com", PASSWORD),
        ("\x00", "\x00"),
        ("x" * 10_000, "x" * 10_000),
    ],
)
async def test_login_refusals_are_identical_for_every_cause(
    office: Office, ada: Actor, username: str, password: str
) -> None:
    await office.add_user("sleeper", is_active=False)

    with pytest.raises(Unauthenticated) as error:
        await office.log_in(username, password)

    assert (error.value.code, error.value.message) == (
        "wrong_credentials",
        "The username or the password is wrong.",
    )


@pytest.mark.parametrize("username", ["ada", "unknown", "sleeper"])
async def test_login_computes_a_hash_for_any_username(
    office: Office, ada: Actor, username: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.add_user("sleeper", is_active=False)
    verified: list[int] = []

    async def note() -> None:
        verified.append(1)

    meanwhile(office, monkeypatch, note)
    await fail(office, username)

    assert verified == [1]


async def test_login_failure_creates_no_session(office: Office, ada: Actor) -> None:
    await fail(office)

    async with office.database.read() as tx:
        user = await tx.users.find(ada.user_uuid)
    assert user is not None
    assert user.last_login_at is None


# Guesses


async def test_login_five_failures_refuse_even_the_right_password(
    office: Office, ada: Actor
) -> None:
    await fail(office, times=5)

    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada")
    assert error.value.retry_after == 30
    assert "30 seconds" in error.value.message

    office.clock.advance(30)
    await office.log_in("ada")


async def test_login_locked_account_computes_no_hash(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fail(office, times=5)

    async def never() -> None:
        raise AssertionError("verified while closed")

    meanwhile(office, monkeypatch, never)
    for _ in range(3):
        with pytest.raises(TooManyAttempts):
            await office.log_in("ada")
    assert await failures(office) == 5


async def test_login_each_further_failure_doubles_the_lock(office: Office, ada: Actor) -> None:
    await fail(office, times=5)
    office.clock.advance(30)
    await fail(office)

    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada")
    assert error.value.retry_after == 60


async def test_login_success_resets_the_failures(office: Office, ada: Actor) -> None:
    await fail(office, times=4)
    await office.log_in("ada")

    assert await failures(office) == 0
    await fail(office, times=4)
    await office.log_in("ada")


async def test_login_unknown_usernames_are_locked_like_known_ones(
    office: Office, ada: Actor
) -> None:
    await fail(office, "unknown", times=5)

    with pytest.raises(TooManyAttempts):
        await office.log_in("UnKnown")
    await office.log_in("ada")


async def test_login_attempt_is_counted_before_verification(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    async def observe() -> None:
        counted.append(await failures(office))

    meanwhile(office, monkeypatch, observe)
    await fail(office)

    assert counted == [1]


async def test_login_concurrent_failures_are_all_counted(office: Office, ada: Actor) -> None:
    outcomes = await asyncio.gather(
        *(office.log_in("ada", "wrong password") for _ in range(50)), return_exceptions=True
    )

    kinds = [type(outcome) for outcome in outcomes]
    assert kinds.count(WrongCredentials) == 5
    assert kinds.count(TooManyAttempts) == 45


async def test_login_concurrent_successes_do_not_lock_the_account(
    office: Office, ada: Actor
) -> None:
    logged_in = await asyncio.gather(*(office.log_in("ada") for _ in range(50)))

    assert len({login.tokens.refresh_token for login in logged_in}) == 50


async def test_login_successes_of_several_processes_do_not_lock_the_account(
    office: Office, ada: Actor
) -> None:
    processes = [office.another_login() for _ in range(8)]
    await fail(office, times=4)
    credentials = Credentials(username="ada", password=PASSWORD)

    logged_in = await asyncio.gather(*(login(credentials) for login in processes * 4))

    assert len({login.tokens.refresh_token for login in logged_in}) == 32
    assert await failures(office) == 0


async def test_login_failures_of_several_processes_are_all_counted(
    office: Office, ada: Actor
) -> None:
    processes = [office.another_login() for _ in range(8)]
    credentials = Credentials(username="ada", password="wrong password")

    outcomes = await asyncio.gather(
        *(login(credentials) for login in processes * 4), return_exceptions=True
    )

    kinds = [type(outcome) for outcome in outcomes]
    assert kinds.count(WrongCredentials) == 5
    assert kinds.count(TooManyAttempts) == 27
    assert await failures(office) == 5


async def test_login_waits_for_undecided_attempts_and_is_refused_if_wrong(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    meanwhile(office, monkeypatch, gate.wait)
    wrong = Credentials(username="ada", password="wrong password")
    guesses = [asyncio.create_task(office.another_login()(wrong)) for _ in range(5)]
    await asyncio.sleep(0.01)

    late = asyncio.create_task(office.log_in("ada"))
    await asyncio.sleep(0.1)
    assert not late.done()
    gate.set()

    with pytest.raises(TooManyAttempts):
        await late
    assert {type(e) for e in await asyncio.gather(*guesses, return_exceptions=True)} == {
        WrongCredentials
    }


async def test_login_attempts_of_a_dead_process_do_not_block_others(
    office: Office, ada: Actor
) -> None:
    now = millis(office.clock())
    async with office.database.write() as tx:
        died = Attempts(5, now, now, now + 30_000, undecided=5)
        await tx.attempts.keep(account_key("ada"), died)
    office.clock.advance(5)

    with pytest.raises(TooManyAttempts):
        await office.log_in("ada")


async def test_login_attempt_without_verification_is_not_counted(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_many(password: str, hash_: str | None, *, first: bool = True) -> bool:
        raise Unavailable("Too many passwords are being checked just now.")

    await fail(office, times=4)
    with monkeypatch.context() as while_busy:
        while_busy.setattr(office.hasher, "verify", too_many)
        for _ in range(3):
            with pytest.raises(Unavailable):
                await office.log_in("ada")

    assert await failures(office) == 4
    await office.log_in("ada")


async def test_login_lock_starts_when_the_attempt_is_counted(office: Office, ada: Actor) -> None:
    """The database may be busy for a while before it counts."""
    await fail(office, times=4)
    async with office.database.write():
        late = asyncio.create_task(office.log_in("ada", "wrong password"))
        await asyncio.sleep(0.01)
        office.clock.advance(20)
    with pytest.raises(Unauthenticated):
        await late

    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada")
    assert error.value.retry_after == 30


async def test_cancelled_login_does_not_block_others(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    meanwhile(office, monkeypatch, gate.wait)
    stuck = [asyncio.create_task(office.log_in("ada")) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in stuck:
        task.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)
    gate.set()

    async with asyncio.timeout(5):
        await office.log_in("ada")


# Failures in a row


async def fail_in_a_row(office: Office, username: str, count: int, ip: str = "10.66.0.1") -> None:
    """Wrong guesses from an address, each after the wait of the one before."""
    for _ in range(count):
        office.clock.advance(15 * 60)
        with pytest.raises(Unauthenticated):
            await office.log_in(username, "wrong password", ip)


@pytest.mark.parametrize("username", ["ada", "unknown", "sleeper"])
async def test_login_100_failures_in_a_row_lock_until_administrator(
    office: Office, root: Actor, ada: Actor, username: str
) -> None:
    await office.add_user("sleeper", is_active=False)
    await fail_in_a_row(office, username, 100)
    office.clock.advance(20 * 3600)

    with pytest.raises(TooManyAttempts) as error:
        await office.log_in(username, PASSWORD, "10.66.0.2")
    assert (error.value.code, error.value.retry_after) == ("locked", 900)
    if username == "ada":
        await office.users.update(root, ada.user_uuid, UserPatch(password="another password"))
        await office.log_in("ada", "another password", "10.66.0.2")


async def test_login_99_failures_in_a_row_do_not_lock_and_success_forgets_them(
    office: Office, ada: Actor
) -> None:
    await fail_in_a_row(office, "ada", 99)
    office.clock.advance(40 * 24 * 3600)
    await office.log_in("ada", PASSWORD, "10.66.0.2")

    await fail_in_a_row(office, "ada", 99)
    office.clock.advance(15 * 60)
    await office.log_in("ada", PASSWORD, "10.66.0.3")


@pytest.mark.parametrize(("days", "locked"), [(29, False), (31, True)])
async def test_login_locked_account_is_open_to_addresses_of_the_last_30_days(
    office: Office, ada: Actor, days: int, locked: bool
) -> None:
    await office.log_in("ada")
    await fail_in_a_row(office, "ada", 100)
    office.clock.advance(days * 24 * 3600 - 100 * 15 * 60)

    if locked:
        with pytest.raises(TooManyAttempts):
            await office.log_in("ada")
        return
    with pytest.raises(TooManyAttempts):
        await office.log_in("ada", PASSWORD, "10.66.0.1")
    await office.log_in("ada")
    await office.log_in("ada", PASSWORD, "10.66.0.1")


async def test_login_locked_familiar_address_keeps_the_short_locks(
    office: Office, ada: Actor
) -> None:
    await office.log_in("ada")
    await fail_in_a_row(office, "ada", 100)
    office.clock.advance(16 * 60)

    await fail(office, times=5)
    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada")
    assert (error.value.code, error.value.retry_after) == ("too_many_attempts", 30)


async def test_create_admin_again_unlocks_the_account(office: Office, ada: Actor) -> None:
    await fail_in_a_row(office, "ada", 100)
    policy = AccountPolicy(lambda _: False)
    create = CreateAdmin(office.database, office.hasher, policy, office.clock, office.new_id)
    await create(
        Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password="",
        )
    )

    office.clock.advance(15 * 60)
    await office.log_in("ada", PASSWORD, "10.66.0.2")


# Failures by client address


@pytest.mark.parametrize(
    ("addresses", "same"),
    [
        (["192.0.2.1"] * 2, True),
        (["192.0.2.1", "::ffff:192.0.2.1"], True),
        (["192.0.2.1", "192.0.2.2"], False),
        (["2001:db8::1", "2001:db8:0:0:ffff::2"], True),
        (["2001:db8::1", "2001:db8:0:1::1"], False),
    ],
)
async def test_login_failures_are_limited_per_address(addresses: list[str], same: bool) -> None:
    office = Office(Settings(guesses=3))
    await office.add_user("ada")
    one, other = addresses
    for number in range(3):
        with pytest.raises(Unauthenticated):
            await office.log_in(f"name {number}", "wrong password", one)

    if not same:
        await office.log_in("ada", PASSWORD, other)
        return
    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada", PASSWORD, other)
    assert error.value.retry_after == 15 * 60
    assert await failures(office) == 0
    office.clock.advance(15 * 60)
    await office.log_in("ada", PASSWORD, other)


async def test_login_address_limit_refuses_before_hashing_and_excepts_familiar_accounts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    office = Office(Settings(guesses=2))
    await office.add_user("ada")
    await office.add_user("bob")
    await office.log_in("ada")
    for number in range(2):
        await fail(office, f"name {number}")

    await office.log_in("ada")
    for _ in range(4):
        await fail(office, "ada")
    with monkeypatch.context() as patched:
        patched.setattr(office.hasher, "verify", None)
        with pytest.raises(TooManyAttempts):
            await office.log_in("bob")
    await office.log_in("ada")


async def test_login_flood_from_a_refused_address_is_slowed_and_does_not_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    office = Office(Settings(guesses=2))
    await office.add_user("ada")
    for number in range(2):
        await fail(office, f"name {number}")
    with pytest.raises(TooManyAttempts) as first:
        await office.log_in("ada")

    with monkeypatch.context() as patched:
        patched.setattr(office.database, "write", None)
        began = time.monotonic()
        flood = await asyncio.gather(
            *(office.log_in(f"name {number}") for number in range(100)), return_exceptions=True
        )
        assert time.monotonic() - began > REFUSAL_PAUSE * 0.9
    for again in flood:
        assert isinstance(again, TooManyAttempts)
        assert again.retry_after == first.value.retry_after
    office.clock.advance(15 * 60)
    await office.log_in("ada")


async def test_login_right_passwords_count_nothing_against_their_address() -> None:
    office = Office(Settings(guesses=2))
    for number in range(5):
        await office.add_user(f"user{number}")
        await office.log_in(f"user{number}")


@pytest.mark.parametrize(("guesses", "refused"), [(0, 0), (10, 40)])
async def test_login_side_by_side_failures_of_an_address_are_counted_exactly(
    guesses: int, refused: int
) -> None:
    office = Office(Settings(guesses=guesses))
    outcomes = await asyncio.gather(
        *(office.log_in(f"name {number}", "wrong password") for number in range(50)),
        return_exceptions=True,
    )

    kinds = [type(outcome) for outcome in outcomes]
    assert kinds.count(TooManyAttempts) == refused
    assert kinds.count(WrongCredentials) == 50 - refused


async def test_login_familiar_accounts_and_addresses_are_hashed_first(
    office: Office, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.add_user("bob")
    await office.log_in("ada")
    asked: list[bool] = []
    verify = office.hasher.verify

    async def note(password: str, hash_: str | None, *, first: bool = True) -> bool:
        asked.append(first)
        return await verify(password, hash_, first=first)

    monkeypatch.setattr(office.hasher, "verify", note)
    await office.log_in("ada")
    await office.log_in("bob")
    await office.log_in("ada", PASSWORD, "10.66.0.1")
    for name in ("bobby", "unknown"):
        with pytest.raises(Unauthenticated):
            await office.log_in(name, PASSWORD, "10.66.0.9")

    assert asked == [True, True, True, False, False]


# What happens while the hash is computed


async def test_login_password_changed_during_the_check_is_refused(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change() -> None:
        await office.users.update(root, ada.user_uuid, UserPatch(password="another password"))

    meanwhile(office, monkeypatch, change)

    with pytest.raises(Unauthenticated):
        await office.log_in("ada")
    assert await failures(office) == 0  # a new password forgets them


async def test_login_account_deactivated_during_the_check_is_refused(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(office, monkeypatch, lambda: office.deactivate(ada.user_uuid))

    with pytest.raises(Unauthenticated):
        await office.log_in("ada")


async def test_login_account_deleted_during_the_check_is_refused(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(office, monkeypatch, lambda: office.users.delete(root, ada.user_uuid))

    with pytest.raises(Unauthenticated):
        await office.log_in("ada")


async def test_login_keeps_concurrent_changes_of_the_account(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change() -> None:
        await office.users.update(root, ada.user_uuid, UserPatch(phone="12"))

    meanwhile(office, monkeypatch, change)

    assert (await office.log_in("ada")).user.phone == "12"


async def test_login_unavailable_database_counts_no_attempt(office: Office, ada: Actor) -> None:
    await office.database.close()
    with pytest.raises(Unavailable):
        await office.log_in("ada")

    await office.database.open()
    await office.log_in("ada")
