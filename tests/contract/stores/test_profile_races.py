"""Concurrent changes of one profile, on every database."""

import asyncio
from types import NoneType

import msgspec

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.runtime.tasks import random_id, system_clock
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.occupancy import change_use
from phoneprov_core.features.desks.records import DeskRecord, Due, end_uses
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.inventory.profiles.use_cases import ChangedMeanwhile, DefaultOfDesks, Profiles
from phoneprov_core.kernel.actor import LevelRule, system_actor
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.people.users.model import AccountPolicy
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.switching.deployments.model import Action
from phoneprov_core.switching.deployments.order import DeploymentRequest
from support.phone_records import a_deployment, a_phone, a_profile, a_revision
from support.records import a_mac, a_user, identifier, moment

ROOT = system_actor(LevelRule.STRICT)


async def test_concurrent_updates_from_one_revision_store_one(database: Database) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(1))
    profiles = Profiles(database, system_clock, random_id)
    new = CreateProfile(user_uuid=identifier(1), name="Ada", cnf_xml="<device/>")
    profile = await profiles.create(ROOT, new)

    for revision in (1, 2, 3):
        patches = [
            ProfilePatch(cnf_xml=f"<n>{revision}.{one}</n>", revision=revision) for one in range(8)
        ]
        answers = await asyncio.gather(
            *(profiles.update(ROOT, profile.uuid, patch) for patch in patches),
            return_exceptions=True,
        )

        stored = [one for one in answers if isinstance(one, Profile)]
        assert [type(one) for one in answers].count(ChangedMeanwhile) == 7, answers
        assert stored == [await profiles.get(ROOT, profile.uuid)]
        kept = (await profiles.revisions(ROOT, profile.uuid)).first
        assert [one.number for one in kept] == list(range(1, revision + 2))


async def test_concurrent_deletion_and_choice_as_default_do_one_of_them(
    database: Database,
) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.phones.add(a_phone(1))
    profiles = Profiles(database, system_clock, random_id)

    async def choose(uuid: str) -> None:
        async with database.write() as tx:
            await configure(tx, a_mac(1), DeskPatch(default_profile_uuid=uuid))

    for _ in range(10):
        new = CreateProfile(user_uuid=identifier(1), name="Ada", cnf_xml="<device/>")
        uuid = (await profiles.create(ROOT, new)).uuid
        deleted, chosen = await asyncio.gather(
            profiles.delete(ROOT, uuid), choose(uuid), return_exceptions=True
        )

        answers = (type(deleted), type(chosen))
        assert answers in {(NoneType, NotFound), (DefaultOfDesks, NoneType)}


async def test_choice_as_default_waits_for_the_deletion_of_the_profile(database: Database) -> None:
    """Both lock the profile before the desk."""
    profile, held = a_profile(10, user_uuid=identifier(1)), asyncio.Event()
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.phones.add(a_phone(1))
        await tx.profiles.add(profile)
        await tx.desks.put(DeskRecord(a_mac(1), profile.uuid))

    async def delete() -> None:
        async with database.write() as tx:
            await tx.profiles.find(profile.uuid)
            held.set()
            await asyncio.sleep(0.1)
            await tx.profiles.remove(profile.uuid)

    async def choose() -> None:
        await held.wait()
        async with database.write() as tx:
            await configure(tx, a_mac(1), DeskPatch(default_profile_uuid=profile.uuid))

    answers = await asyncio.gather(delete(), choose(), return_exceptions=True)
    assert [type(one) for one in answers] == [NoneType, NotFound]
    async with database.read() as tx:
        assert await tx.desks.find(a_mac(1)) == DeskRecord(a_mac(1))


async def test_switch_waits_for_the_deactivation_of_the_owner(database: Database) -> None:
    """Both lock the user before the desk. Its use of the phone ends at once."""
    profile, held = a_profile(10, user_uuid=identifier(1)), asyncio.Event()
    order = DeploymentRequest(Action.SWITCH, profile, a_revision(20, profile), "", a_phone(1))
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.phones.add(a_phone(1))
        await tx.desks.put(DeskRecord(a_mac(1), user_uuid=identifier(1)))

    async def deactivate() -> None:
        async with database.write() as tx:
            user = await tx.users.find(identifier(1))
            assert user is not None
            held.set()
            await asyncio.sleep(0.1)
            await end_uses(tx, user.uuid)
            await tx.users.put(msgspec.structs.replace(user, is_active=False))

    async def switch() -> None:
        await held.wait()
        async with database.write() as tx:
            await change_use(tx, order, a_deployment(30, a_mac(1)), moment(9))

    await asyncio.gather(deactivate(), switch())
    async with database.read() as tx:
        desk = await tx.desks.find(a_mac(1))
    assert (desk.user_uuid, desk.due) == (None, Due.LOGOUT)


async def test_deletion_of_the_owner_waits_for_the_deletion_of_the_profile(
    database: Database,
) -> None:
    """Both lock the profile before the desk."""
    profile, held = a_profile(10, user_uuid=identifier(1)), asyncio.Event()
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.phones.add(a_phone(1))
        await tx.profiles.add(profile)
        await tx.desks.put(DeskRecord(a_mac(1), profile.uuid, user_uuid=identifier(1)))
    policy = AccountPolicy(lambda _: False)
    users = Users(database, PlainHasher(), policy, system_clock, random_id)

    async def delete_profile() -> None:
        async with database.write(by=ROOT) as tx:
            await tx.profiles.find(profile.uuid)
            held.set()
            await asyncio.sleep(0.1)
            await tx.profiles.remove(profile.uuid)

    async def delete_owner() -> None:
        await held.wait()
        await users.delete(ROOT, identifier(1))

    await asyncio.gather(delete_profile(), delete_owner())
    async with database.read() as tx:
        desk = await tx.desks.find(a_mac(1))
    assert (desk.default_profile_uuid, desk.user_uuid, desk.due) == (None, None, Due.LOGOUT)
