"""Wrong logins, and changes while a password is verified."""

from collections.abc import Awaitable, Callable

import pytest

from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.throttle import account_key
from support.office import Office


async def failures(office: Office, username: str = "ada") -> int:
    async with office.database.write() as tx:
        return (await tx.attempts.of(account_key(username))).failures


async def fail(office: Office, username: str = "ada", times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Unauthenticated):
            await office.log_in(username, "wrong password")


def meanwhile(
    office: Office, monkeypatch: pytest.MonkeyPatch, act: Callable[[], Awaitable[object]]
) -> None:
    """Call ``act`` after each verification of a password, before its result is used."""
    verify = office.hasher.verify

    async def slow_verify(password: str, hash_: str | None, *, first: bool = True) -> bool:
        right = await verify(password, hash_)
        await act()
        return right

    monkeypatch.setattr(office.hasher, "verify", slow_verify)


async def fail_in_a_row(office: Office, username: str, count: int, ip: str = "10.66.0.1") -> None:
    """Wrong passwords from one address, each after the lock of the one before."""
    for _ in range(count):
        office.clock.advance(15 * 60)
        with pytest.raises(Unauthenticated):
            await office.log_in(username, "wrong password", ip)
