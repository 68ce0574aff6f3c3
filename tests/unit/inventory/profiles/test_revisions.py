"""Every former configuration of a profile is a revision, which never changes."""

import asyncio
import hashlib

import pytest

from phoneprov_adapters.runtime.tasks import random_id
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch, Revision
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound
from phoneprov_core.kernel.ports import Window
from phoneprov_core.kernel.values import timestamp
from support.office import Office

FIRST, SECOND = "<device>\r\n\u00e9</device>", "<device/>"


@pytest.fixture
async def profile(office: Office, ada: Actor) -> Profile:
    new = CreateProfile(user_uuid=ada.user_uuid, name="Ada", cnf_xml=FIRST)
    return await office.profiles.create(ada, new)


async def revisions(office: Office, actor: Actor, profile: Profile) -> list[Revision]:
    return await (await office.profiles.revisions(actor, profile.uuid)).everything()


async def kept(office: Office, revision: Revision) -> str | None:
    async with office.database.read() as tx:
        content = await tx.revisions.content(revision.uuid)
        return content.text if content else None


async def test_profile_create_makes_revision_1(
    office: Office, ada: Actor, profile: Profile
) -> None:
    (first,) = await revisions(office, ada, profile)

    content = FIRST.encode()
    assert (first.number, first.size) == (1, len(content))
    assert first.sha256 == hashlib.sha256(content).hexdigest()
    assert (first.created_at, first.created_by) == (profile.created_at, ada.user_uuid)
    assert await kept(office, first) == FIRST


async def test_update_with_changed_configuration_creates_a_revision(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    office.clock.advance(5)
    await office.profiles.update(root, profile.uuid, ProfilePatch(cnf_xml=SECOND))

    first, second = await revisions(office, ada, profile)

    assert [await kept(office, one) for one in (first, second)] == [FIRST, SECOND]
    assert (second.number, second.created_by) == (2, root.user_uuid)
    assert second.created_at == timestamp(office.clock())


async def test_update_of_other_fields_creates_no_revision(
    office: Office, ada: Actor, profile: Profile
) -> None:
    for patch in (ProfilePatch(name="Another"), ProfilePatch(cnf_xml=FIRST), ProfilePatch()):
        await office.profiles.update(ada, profile.uuid, patch)
    with pytest.raises(Invalid):
        await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml="<device>"))

    assert [one.number for one in await revisions(office, ada, profile)] == [1]


async def test_restored_configuration_is_a_new_revision(
    office: Office, ada: Actor, profile: Profile
) -> None:
    for xml in (SECOND, FIRST):
        await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml=xml))

    found = await revisions(office, ada, profile)

    assert [one.number for one in found] == [1, 2, 3]
    assert found[0].sha256 == found[2].sha256


async def test_revisions_are_paged_and_visible_like_their_profile(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml=SECOND))

    page = await office.profiles.revisions(root, profile.uuid, Window(limit=1, offset=1))

    assert ([one.number for one in page.first], page.total) == ([2], 2)
    with pytest.raises(NotFound):
        await office.profiles.revisions(bob, profile.uuid)


async def test_revisions_are_deleted_with_their_profile(
    office: Office, ada: Actor, profile: Profile
) -> None:
    (first,) = await revisions(office, ada, profile)
    await office.profiles.delete(ada, profile.uuid)

    assert await kept(office, first) is None
    with pytest.raises(NotFound):
        await office.profiles.revisions(ada, profile.uuid)


async def test_update_over_the_maximum_removes_the_oldest_revisions(
    office: Office, ada: Actor, profile: Profile
) -> None:
    limited = Profiles(office.database, office.clock, random_id, most_revisions=3)
    for number in range(5):
        await limited.update(ada, profile.uuid, ProfilePatch(cnf_xml=f"<d>{number}</d>"))

    assert [one.number for one in await revisions(office, ada, profile)] == [4, 5, 6]
    assert (await office.profiles.get(ada, profile.uuid)).cnf_xml == "<d>4</d>"


async def test_create_over_the_maximum_of_profiles_is_refused(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    limited = Profiles(office.database, office.clock, random_id, most_profiles=2)
    new = CreateProfile(user_uuid=ada.user_uuid, name="Ada", cnf_xml=FIRST)
    of_bob = CreateProfile(user_uuid=bob.user_uuid, name="Bob", cnf_xml=FIRST)

    made = await asyncio.gather(
        *(limited.create(ada, new) for _ in range(3)), return_exceptions=True
    )

    refused = [one for one in made if isinstance(one, Conflict)]
    assert [one.code for one in refused] == ["too_many_profiles"] * 2
    given = await limited.create(bob, of_bob)
    with pytest.raises(Conflict):
        await limited.update(root, given.uuid, ProfilePatch(user_uuid=ada.user_uuid))
    await limited.update(ada, profile.uuid, ProfilePatch(user_uuid=ada.user_uuid, name="Own"))
    await limited.delete(ada, profile.uuid)
    await limited.update(root, given.uuid, ProfilePatch(user_uuid=ada.user_uuid))
