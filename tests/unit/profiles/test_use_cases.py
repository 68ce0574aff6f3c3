"""Phone profiles: access, and the order of refusals."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.profiles.use_cases import PIECE
from support.office import Office

NOWHERE = "00000000-0000-4000-8000-ffffffffffff"
XML = "<device>\r\n\t<p>\u00e9</p>\r\n</device>\n"


def new(owner: Actor, **more: Any) -> CreateProfile:
    return CreateProfile(**{"user_uuid": owner.user_uuid, "name": "Desk", "cnf_xml": XML, **more})


def sent(body: Mapping[str, object]) -> CreateProfile:
    return command_of(CreateProfile, body)


def patch(body: Mapping[str, object]) -> ProfilePatch:
    return command_of(ProfilePatch, body)


@pytest.fixture
async def profile(office: Office, ada: Actor) -> Profile:
    return await office.profiles.create(ada, new(ada))


# Creating


async def test_create_for_another_user_is_forbidden_whether_or_not_it_exists(
    office: Office, ada: Actor, bob: Actor
) -> None:
    for owner in (ada.user_uuid, NOWHERE):
        with pytest.raises(Forbidden):
            await office.profiles.create(
                bob, CreateProfile(user_uuid=owner, name="x", cnf_xml="<a/>")
            )


async def test_create_for_missing_owner_is_not_found(office: Office, root: Actor) -> None:
    with pytest.raises(NotFound, match="no such user"):
        await office.profiles.create(
            root, CreateProfile(user_uuid=NOWHERE, name="Ada", cnf_xml="<device/>")
        )


async def test_create_for_a_deleted_account_is_refused(
    office: Office, root: Actor, ada: Actor
) -> None:
    body = {"user_uuid": ada.user_uuid, "name": "Desk", "cnf_xml": XML}
    await office.users.delete(root, ada.user_uuid)

    with pytest.raises(NotFound):
        await office.profiles.create(ada, sent(body))


# Reading


async def test_pages_and_totals_count_own_profiles(
    office: Office, root: Actor, ada: Actor, bob: Actor
) -> None:
    for owner in (ada, bob, ada, bob):
        office.clock.advance(1)
        await office.profiles.create(owner, new(owner))

    own = await office.profiles.all(ada, Window(1, 1))
    of_bob = await office.profiles.of_user(root, bob.user_uuid, Window(5))

    assert (own.total, len(own.first)) == (2, 1)
    assert (of_bob.total, len(of_bob.first)) == (2, 2)


async def test_long_list_is_read_in_bounded_pieces(office: Office, ada: Actor) -> None:
    for number in range(2 * PIECE + 3):
        office.clock.advance(1)
        await office.profiles.create(ada, new(ada, name=f"p{number}"))

    listed = await office.profiles.all(ada)
    page = await office.profiles.all(ada, Window(1000))

    assert [len(piece) async for piece in listed] == [PIECE, PIECE, 3]
    assert [len(piece) async for piece in page] == [PIECE, PIECE, 3]
    assert page.total == 2 * PIECE + 3


async def test_list_of_another_user_is_forbidden_whether_or_not_it_exists(
    office: Office, ada: Actor, bob: Actor
) -> None:
    for owner in (ada.user_uuid, NOWHERE, "nonsense"):
        with pytest.raises(Forbidden):
            await office.profiles.of_user(bob, owner)


@pytest.mark.parametrize("owner", [NOWHERE, "nonsense", ""])
async def test_superadmin_gets_not_found_for_a_missing_user(
    office: Office, root: Actor, owner: str
) -> None:
    with pytest.raises(NotFound, match="no such user"):
        await office.profiles.of_user(root, owner)


async def test_profile_of_another_user_is_not_found(
    office: Office, bob: Actor, profile: Profile
) -> None:
    def unreadable() -> object:
        raise AssertionError("looked at too early")

    unread: ProfilePatch = cast(Any, None)
    calls: list[Callable[[str], Awaitable[object]]] = [
        lambda uuid: office.profiles.get(bob, uuid),
        lambda uuid: office.profiles.update(bob, uuid, unread),
        lambda uuid: office.profiles.delete(bob, uuid),
    ]
    for call in calls:
        refusals = []
        for uuid in (profile.uuid, NOWHERE, "nonsense", ""):
            with pytest.raises(NotFound) as error:
                await call(uuid)
            refusals.append((error.value.message, error.value.code, error.value.problems))
        assert len(set(refusals)) == 1


# Changing


async def test_null_and_empty_clear_optional_fields(office: Office, ada: Actor) -> None:
    profile = await office.profiles.create(
        ada, new(ada, description="d", software_type="SIP", compatible_models=("7945",))
    )

    after = await office.profiles.update(
        ada, profile.uuid, patch({"description": None, "software_type": None})
    )
    assert (after.description, after.software_type) == (None, None)
    assert after.compatible_models == ("7945",)
    after = await office.profiles.update(ada, profile.uuid, patch({"compatible_models": []}))
    assert after.compatible_models == ()


async def test_owner_change_requires_superadmin(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    for heir in (bob.user_uuid, NOWHERE):
        with pytest.raises(Forbidden):
            await office.profiles.update(ada, profile.uuid, ProfilePatch(user_uuid=heir))
    with pytest.raises(NotFound, match="no such user"):
        await office.profiles.update(root, profile.uuid, ProfilePatch(user_uuid=NOWHERE))

    given = await office.profiles.update(root, profile.uuid, ProfilePatch(user_uuid=bob.user_uuid))

    assert await office.profiles.get(bob, given.uuid) == given
    with pytest.raises(NotFound):
        await office.profiles.get(ada, given.uuid)


# Deleting
