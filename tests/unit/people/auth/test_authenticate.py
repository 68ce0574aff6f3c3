"""From an access token to its account."""

import pytest

from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.values import millis
from phoneprov_core.people.access import CreateAssignment, CreatePermission
from phoneprov_core.people.auth.model import Claims, LoggedIn, TokenKind
from support.office import Office, Settings


@pytest.fixture
async def logged_in(office: Office, ada: Actor) -> LoggedIn:
    return await office.log_in("ada")


async def test_actor_has_the_current_state_of_the_account(
    office: Office, logged_in: LoggedIn
) -> None:
    actor = await office.authenticate(logged_in.tokens.access_token, "192.168.1.1")

    assert (actor.user_uuid, actor.level, actor.ip) == (logged_in.user.uuid, 1, "192.168.1.1")
    assert actor.session_uuid is not None
    assert actor.level_rule is LevelRule.STRICT


async def test_actor_uses_the_configured_level_rule() -> None:
    office = Office(Settings(level_rule=LevelRule.HIERARCHICAL))
    await office.add_user("ada", level=7)

    assert (await office.actor_of(await office.log_in("ada"))).holds(0)


async def test_changed_level_and_deactivation_take_effect_at_once(
    office: Office, root: Actor, logged_in: LoggedIn
) -> None:
    uuid = logged_in.user.uuid
    zero = await office.permissions.create(root, CreatePermission(level=0, name="zero"))
    assert not (await office.actor_of(logged_in)).holds(0)

    await office.user_permissions.assign(
        root, CreateAssignment(user_uuid=uuid, perm_uuid=zero.uuid)
    )
    assert (await office.actor_of(logged_in)).holds(0)

    await office.user_permissions.remove(root, uuid)
    assert (await office.actor_of(logged_in)).level is None
    await office.deactivate(uuid)
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)


async def test_expired_access_token_is_refused(office: Office, logged_in: LoggedIn) -> None:
    office.clock.advance(15 * 60 - 1)
    await office.actor_of(logged_in)

    office.clock.advance(1)
    with pytest.raises(Unauthenticated):
        await office.actor_of(logged_in)


async def test_refresh_token_is_not_accepted_as_access_token(
    office: Office, logged_in: LoggedIn
) -> None:
    with pytest.raises(Unauthenticated):
        await office.authenticate(logged_in.tokens.refresh_token)


async def test_token_with_the_session_of_another_account_is_refused(
    office: Office, logged_in: LoggedIn, bob: Actor
) -> None:
    now = millis(office.clock())
    claims = office.tokens.read(TokenKind.ACCESS, logged_in.tokens.access_token, now)
    forged = office.tokens.issue(
        TokenKind.ACCESS,
        Claims(bob.user_uuid, claims.session_uuid, claims.token_id, now, now + 60_000),
    )

    with pytest.raises(Unauthenticated):
        await office.authenticate(forged)


@pytest.mark.parametrize("token", ["", "nonsense", "plain.", "plain.{}", "\x00", "\ud800"])
async def test_invalid_token_is_refused(office: Office, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await office.authenticate(token)
