"""Logging out."""

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, Unauthenticated
from phoneprov_core.people.auth.model import LoggedIn, LogoutRequest, RefreshRequest
from support.office import Office


@pytest.fixture
async def here(office: Office, ada: Actor) -> LoggedIn:
    return await office.log_in("ada")


@pytest.fixture
async def elsewhere(office: Office, ada: Actor) -> LoggedIn:
    return await office.log_in("ada")


def naming(logged_in: LoggedIn) -> LogoutRequest:
    return LogoutRequest(refresh_token=logged_in.tokens.refresh_token)


async def is_over(office: Office, logged_in: LoggedIn) -> bool:
    with_refresh = with_access = False
    try:
        await office.actor_of(logged_in)
    except Unauthenticated:
        with_access = True
    try:
        await office.refresh(RefreshRequest(refresh_token=logged_in.tokens.refresh_token))
    except Unauthenticated:
        with_refresh = True
    assert with_access == with_refresh
    return with_access


@pytest.mark.parametrize("is_used", [False, True])
async def test_logout_with_refresh_token_ends_its_session(
    office: Office, here: LoggedIn, elsewhere: LoggedIn, is_used: bool
) -> None:
    actor = await office.actor_of(here)
    if is_used:
        await office.refresh(RefreshRequest(refresh_token=elsewhere.tokens.refresh_token))

    for _ in range(2):  # also a session that ended
        await office.logout(actor, naming(elsewhere))

    assert await is_over(office, elsewhere)
    assert not await is_over(office, here)


@pytest.mark.parametrize("body", [{}, {"refresh_token": None}])
async def test_logout_without_refresh_token_ends_all_sessions(
    office: Office, here: LoggedIn, elsewhere: LoggedIn, bob: Actor, body: dict[str, object]
) -> None:
    of_another = await office.log_in("bob")

    await office.logout(await office.actor_of(here), command_of(LogoutRequest, body))

    assert await is_over(office, here)
    assert await is_over(office, elsewhere)
    assert not await is_over(office, of_another)
    async with office.database.read() as tx:
        user = await tx.users.find(here.user.uuid)
    assert user is not None
    assert user.last_logout_ip == "10.1.2.3"


async def test_logout_accepts_own_refresh_tokens_only(
    office: Office, here: LoggedIn, bob: Actor
) -> None:
    of_another = await office.log_in("bob")
    actor = await office.actor_of(here)
    for token in (of_another.tokens.refresh_token, here.tokens.access_token, "nonsense"):
        with pytest.raises(Invalid) as error:
            await office.logout(actor, LogoutRequest(refresh_token=token))
        assert [problem.field for problem in error.value.problems] == ["refresh_token"]

    assert not await is_over(office, of_another)
    assert not await is_over(office, here)
    office.clock.advance(15 * 24 * 3600)
    with pytest.raises(Invalid):
        await office.logout(actor, naming(here))


async def test_logout_of_a_deleted_account_succeeds(
    office: Office, root: Actor, here: LoggedIn
) -> None:
    actor = await office.actor_of(here)
    await office.users.delete(root, actor.user_uuid)

    await office.logout(actor, LogoutRequest())

    assert await is_over(office, here)
