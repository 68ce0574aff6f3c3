"""Logging in: the right password, refusals, and changes during the check."""

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated, Unavailable
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.auth.model import Lifetimes, TokenKind
from phoneprov_core.people.users.model import UserPatch
from support.logins import fail, failures, meanwhile
from support.office import PASSWORD, Office, Settings

# The right password


async def test_login_returns_the_account_and_its_tokens(office: Office, ada: Actor) -> None:
    office.clock.advance(60)

    await fail(office)
    async with office.database.read() as tx:
        (user,) = await tx.users.rows(9)
        hash_ = await tx.users.password_hash(ada.user_uuid)
    assert user.last_login_at is None

    logged_in, other = await office.log_in("ada"), await office.log_in("ADA")

    assert logged_in.user.uuid == other.user.uuid == ada.user_uuid
    assert logged_in.user.last_login_ip == "10.1.2.3"
    assert logged_in.user.last_login_at == timestamp(office.clock())
    async with office.database.read() as tx:
        assert await tx.users.find(ada.user_uuid) == logged_in.user
        assert await tx.users.password_hash(ada.user_uuid) == hash_
    assert (await office.actor_of(other)).session_uuid != (
        await office.actor_of(logged_in)
    ).session_uuid
    actor = await office.actor_of(logged_in)
    assert (actor.user_uuid, actor.level, actor.ip) == (ada.user_uuid, 1, "10.1.2.3")


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


# What happens while the hash is computed


async def test_login_password_changed_during_the_check_is_refused(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change() -> None:
        await office.users.update(root, ada.user_uuid, UserPatch(password="another password"))

    meanwhile(office, monkeypatch, change)

    with pytest.raises(Unauthenticated):
        await office.log_in("ada")
    assert await failures(office) == 1  # a new password forgets those before it


async def test_login_keeps_concurrent_changes_of_the_account(
    office: Office, root: Actor, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change() -> None:
        await office.users.update(root, ada.user_uuid, UserPatch(phone="12"))

    meanwhile(office, monkeypatch, change)

    assert (await office.log_in("ada")).user.phone == "12"


@pytest.mark.parametrize("change", ["deactivation", "deletion"])
async def test_login_account_removed_during_the_check_is_refused(
    office: Office, root: Actor, ada: Actor, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def remove() -> None:
        if change == "deactivation":
            await office.deactivate(ada.user_uuid)
        else:
            await office.users.delete(root, ada.user_uuid)

    meanwhile(office, monkeypatch, remove)

    with pytest.raises(Unauthenticated):
        await office.log_in("ada")


async def test_login_unavailable_database_counts_no_attempt(office: Office, ada: Actor) -> None:
    await office.database.close()
    with pytest.raises(Unavailable):
        await office.log_in("ada")

    await office.database.open()
    await office.log_in("ada")
