"""Exchanging refresh tokens."""

import asyncio

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.auth.model import Lifetimes, RefreshRequest, TokenPair
from support.office import Office, Settings


async def refresh(office: Office, token: str) -> TokenPair:
    return await office.refresh(RefreshRequest(refresh_token=token))


async def is_alive(office: Office, pair: TokenPair) -> bool:
    try:
        await office.authenticate(pair.access_token)
    except Unauthenticated:
        return False
    return True


@pytest.fixture
async def tokens(office: Office, ada: Actor) -> TokenPair:
    return (await office.log_in("ada")).tokens


async def test_refresh_returns_a_new_pair(office: Office, ada: Actor, tokens: TokenPair) -> None:
    office.clock.advance(60)

    fresh = await refresh(office, tokens.refresh_token)

    assert fresh.access_token != tokens.access_token
    assert fresh.refresh_token != tokens.refresh_token
    before = await office.authenticate(tokens.access_token)
    after = await office.authenticate(fresh.access_token)
    assert before.session_uuid == after.session_uuid
    assert after.user_uuid == ada.user_uuid


async def test_refresh_prolongs_a_session_up_to_its_end() -> None:
    office = Office(Settings(lifetimes=Lifetimes(access=10, refresh_idle=100, session=250)))
    await office.add_user("ada")
    tokens = (await office.log_in("ada")).tokens
    idle = (await office.log_in("ada")).tokens
    for _ in range(4):
        office.clock.advance(60)
        tokens = await refresh(office, tokens.refresh_token)
    with pytest.raises(Unauthenticated):
        await refresh(office, idle.refresh_token)

    office.clock.advance(10)
    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.refresh_token)


async def test_refresh_concurrent_uses_of_a_token_yield_one_pair(
    office: Office, tokens: TokenPair
) -> None:
    outcomes = await asyncio.gather(
        *(refresh(office, tokens.refresh_token) for _ in range(20)), return_exceptions=True
    )

    pairs = [outcome for outcome in outcomes if isinstance(outcome, TokenPair)]
    assert len(pairs) == 1
    assert [type(outcome) for outcome in outcomes].count(Unauthenticated) == 19
    # The other nineteen are a second use, which ends the session.
    assert not await is_alive(office, pairs[0])


async def test_refresh_reused_token_ends_the_session(office: Office, tokens: TokenPair) -> None:
    other = (await office.log_in("ada")).tokens
    fresh = await refresh(office, tokens.refresh_token)

    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.refresh_token)

    assert await is_alive(office, other)
    assert not await is_alive(office, tokens)
    assert not await is_alive(office, fresh)
    with pytest.raises(Unauthenticated):
        await refresh(office, fresh.refresh_token)


async def test_refresh_reuse_within_the_grace_period_is_refused_and_keeps_the_session() -> None:
    office = Office(Settings(lifetimes=Lifetimes(reuse_grace=10)))
    await office.add_user("ada")
    tokens = (await office.log_in("ada")).tokens
    fresh = await refresh(office, tokens.refresh_token)

    office.clock.advance(9)
    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.refresh_token)
    assert await is_alive(office, fresh)

    office.clock.advance(1)
    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.refresh_token)
    assert not await is_alive(office, fresh)


async def test_refresh_of_an_inactive_account_is_refused(
    office: Office, ada: Actor, tokens: TokenPair
) -> None:
    await office.deactivate(ada.user_uuid)

    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.refresh_token)


@pytest.mark.parametrize("which", ["", "nonsense", "plain.{}", "plain.", "access"])
async def test_refresh_invalid_token_is_refused(
    office: Office, tokens: TokenPair, which: str
) -> None:
    with pytest.raises(Unauthenticated):
        await refresh(office, tokens.access_token if which == "access" else which)

    assert await is_alive(office, tokens)
