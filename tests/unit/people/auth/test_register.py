"""Public registration."""

from typing import cast

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Forbidden
from phoneprov_core.people.users.model import Registration
from support.office import PASSWORD, Office, Settings

BODY: dict[str, object] = {
    "first_name": "Cleo",
    "last_name": "Patra",
    "username": "cleo",
    "email": "cleo@example.com",
    "password": PASSWORD,
}


def sent(**changes: object) -> Registration:
    return command_of(Registration, BODY | changes)


@pytest.fixture
def public() -> Office:
    return Office(Settings(public_register=True))


async def test_public_registration_allowed_accepts_anonymous_callers(public: Office) -> None:
    user = await public.register(None, sent(), "192.168.1.9")

    assert (user.username, user.is_active, user.created_by) == ("cleo", True, None)
    assert (user.created_ip, user.updated_ip) == ("192.168.1.9", "192.168.1.9")
    logged_in = await public.log_in("cleo")
    assert (await public.actor_of(logged_in)).level is None


async def test_public_registration_forbidden_refuses_anonymous_callers(
    office: Office, ada: Actor
) -> None:
    new = cast(Registration, None)
    for actor in (None, ada):
        with pytest.raises(Forbidden, match="Registration is closed"):
            await office.register(actor, new)


async def test_register_by_superadmin_is_allowed_with_any_setting(
    office: Office, root: Actor
) -> None:
    user = await office.register(root, sent(), "10.9.8.7")

    assert user.created_by == root.user_uuid


async def test_register_caller_without_level_0_is_not_the_creator(public: Office) -> None:
    ada = await public.add_user("ada", level=1)

    assert (await public.register(ada, sent())).created_by is None


async def test_register_username_in_use_is_conflict(public: Office) -> None:
    await public.register(None, sent())

    with pytest.raises(Conflict) as conflict:
        await public.register(None, sent(username="CLEO", email="other@example.com"))

    assert [problem.field for problem in conflict.value.problems] == ["username"]
