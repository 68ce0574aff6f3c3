"""Wrong passwords are limited per client address."""

import asyncio
import time

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated
from phoneprov_core.people.auth.model import WrongCredentials
from phoneprov_core.people.throttle import REFUSAL_PAUSE
from support.logins import fail, failures
from support.office import PASSWORD, Office, Settings


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


async def test_login_right_passwords_do_not_count_against_their_address() -> None:
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


async def test_stranger_locks_no_address_that_the_account_recently_logged_in_from() -> None:
    office = Office(Settings(guesses=0))
    await office.add_user("ada")
    await office.log_in("ada", PASSWORD, "192.0.2.1")
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await office.log_in("ada", "wrong password", "192.0.2.99")
    with pytest.raises(TooManyAttempts):
        await office.log_in("ada", PASSWORD, "192.0.2.99")

    await office.log_in("ada", PASSWORD, "192.0.2.1")


async def test_failures_at_a_known_address_lock_that_address() -> None:
    office = Office(Settings(guesses=0))
    await office.add_user("ada")
    for address in ("192.0.2.1", "192.0.2.2"):
        await office.log_in("ada", PASSWORD, address)
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await office.log_in("ada", "wrong password", "192.0.2.1")

    with pytest.raises(TooManyAttempts):
        await office.log_in("ada", PASSWORD, "192.0.2.1")
    await office.log_in("ada", PASSWORD, "192.0.2.2")
