"""Wrong passwords are counted per account and lock it for some time."""

import asyncio

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.values import millis
from phoneprov_core.people.auth.model import Credentials, WrongCredentials
from phoneprov_core.people.throttle import account_key
from support.logins import fail, failures, meanwhile
from support.office import PASSWORD, Office


async def test_login_after_five_failures_is_refused_with_the_right_password(
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


async def test_login_attempts_of_a_killed_process_are_not_counted(
    office: Office, ada: Actor
) -> None:
    """They may all have been right."""
    await fail(office, times=4)
    for _ in range(20):
        now = millis(office.clock())
        async with office.database.write() as tx:
            attempts = (await tx.attempts.of(account_key("ada"))).settled(now).counted(now)
            await tx.attempts.keep(account_key("ada"), attempts)
        office.clock.advance(5)

    with pytest.raises(WrongCredentials):
        await office.log_in("ada", "wrong password")
    assert await failures(office) == 5
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
    """The database may be busy before it counts."""
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

    async with asyncio.timeout(60):
        await office.log_in("ada")
