"""Adopted and replaced phones, on every database."""

import asyncio

import msgspec
import pytest

from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_adapters.runtime.tasks import random_id, system_clock
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.desks.records import DeskRecord, Due
from phoneprov_core.features.fleet.model import (
    AdoptPhone,
    AlreadyReplaced,
    Replacement,
    ReplacePhone,
    SeveralAddresses,
)
from phoneprov_core.features.fleet.use_cases import ChangeFleet
from phoneprov_core.features.serving.model import ServedFile
from phoneprov_core.inventory.phones.model import CreatePhone, Phone, PhonePatch
from phoneprov_core.inventory.phones.use_cases import PhoneBusy, Phones
from phoneprov_core.kernel.actor import LevelRule, SharedWrite, system_actor
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import AlreadyExists, Conflict, Invalid, NotFound
from phoneprov_core.kernel.ports import NEWEST
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.switching.deployments.model import DeploymentFilter
from phoneprov_core.switching.deployments.observation import DeviceInformation
from phoneprov_core.switching.deployments.use_cases import Deployments
from support.kinds import add
from support.phone_records import a_deployment, a_flag, a_kem, a_phone, a_profile
from support.records import a_mac, a_user, identifier, moment

ROOT = system_actor(LevelRule.STRICT)
OLD, NEW, OTHER = a_mac(1), a_mac(2), a_mac(3)
BY = ReplacePhone(mac=NEW)
FILE = ServedFile(f"SEP{OLD.replace(':', '')}.cnf.xml", b"<secret/>", "a")


@pytest.fixture
def information() -> MemoryPhone:
    """What each address says of itself."""
    return MemoryPhone()


@pytest.fixture
def change(database: Database, information: MemoryPhone) -> ChangeFleet:
    return ChangeFleet(database, information, system_clock, random_id)


@pytest.fixture
def phones(database: Database) -> Phones:
    return Phones(database, SharedWrite.SUPERADMIN, system_clock)


async def an_office(database: Database) -> Phone:
    """A phone with everything that belongs to one."""
    hex_ = OLD.replace(":", "")
    phone = a_phone(1, hostname=f"SEP{hex_}", phone_ip="10.0.0.1", software_version="1")
    kems = [a_kem(number, connected_phone=OLD) for number in (11, 12)]
    profile = a_profile(5, identifier(1), compatible_models=())
    await add(database, a_user(1), phone, a_flag(1), *kems, profile, a_deployment(21, OLD))
    async with database.write() as tx:
        await tx.desks.put(DeskRecord(OLD, profile.uuid, user_uuid=identifier(1), version=4))
        await tx.served_files.put(FILE)
    return phone


async def see(database: Database, mac: str = NEW) -> None:
    async with database.write() as tx:
        await tx.discovered_phones.see(mac, "10.0.0.9", "CP-7965G", "x", moment(3))


async def test_replaced_phone_hands_over_what_belongs_to_its_place(
    database: Database, change: ChangeFleet
) -> None:
    old = await an_office(database)

    new = await change.replace(ROOT, OLD.lower(), BY)

    assert (new.mac, new.model, new.name, new.location) == (NEW, old.model, old.name, old.location)
    assert (new.phone_ip, new.software_version) == (None, None)
    assert new.hostname == f"SEP{NEW.replace(':', '')}"
    async with database.read() as tx:
        assert await tx.phones.find(NEW) == record_of(Phone, new)
        assert not msgspec.structs.asdict(await tx.phones.find(OLD) or old)["is_active"]
        assert [flag.mac for flag in await tx.vendor_phones.rows(9)] == [NEW]
        assert {kem.connected_phone for kem in await tx.kems.rows(9)} == {NEW}
        desk = await tx.desks.find(NEW)
        left = await tx.desks.find(OLD)
        assert await tx.served_files.find(FILE.name) is None
        unsettled = await tx.desks.unsettled(moment(9), 9, 9)
        entries = [one.entry for one in await tx.audit.newest(WantedEntries(), 99)]
    assert (desk.default_profile_uuid, desk.user_uuid) == (identifier(5), identifier(1))
    assert desk.version == 5
    # The upkeep of desks puts the profile onto the new phone, and restarts the other one.
    assert unsettled == [left, desk]
    assert (left.user_uuid, left.default_profile_uuid, left.due) == (None, None, Due.LOGOUT)
    (entry,) = [one for one in entries if one.action == "phone.replaced"]
    assert (entry.resource_id, entry.changes["mac"]) == (OLD, {"old": None, "new": NEW})


async def test_replacement_that_was_discovered_has_its_address_and_model(
    database: Database, change: ChangeFleet
) -> None:
    await an_office(database)
    await see(database)

    new = await change.replace(ROOT, OLD, BY)

    assert (new.phone_ip, new.model) == ("10.0.0.9", "CP-7965G")
    async with database.read() as tx:
        assert not await tx.discovered_phones.rows(9)


async def test_history_is_read_from_the_phone_and_from_those_after_it(
    database: Database, change: ChangeFleet
) -> None:
    await an_office(database)
    await change.replace(ROOT, OLD, BY)
    await add(database, a_deployment(22, NEW))
    await change.replace(ROOT, NEW, ReplacePhone(mac=OTHER))
    await add(database, a_deployment(23, OTHER))
    deployments = Deployments(database, system_clock)

    async def history(mac: str, before: str | None = None) -> list[str]:
        rows = (await deployments.of_phone(ROOT, mac, DeploymentFilter(before=before))).first
        return [one.mac for one in rows]

    assert await history(OLD) == [OLD]
    assert await history(NEW) == [OLD, NEW]
    assert await history(OTHER) == [OLD, NEW, OTHER]
    assert await history(OTHER, before=NEWEST) == [OTHER, NEW, OLD]


async def test_replacements_of_each_other_are_no_endless_chain(database: Database) -> None:
    async with database.write() as tx:
        for new, old in ((NEW, OLD), (OTHER, NEW), (OLD, OTHER)):
            await tx.replacements.put(Replacement(new, old, moment(1)))
    async with database.read() as tx:
        assert await tx.replacements.earlier(OLD) == sorted([NEW, OTHER])


async def test_phone_is_replaced_once_until_it_is_active_again(
    database: Database, change: ChangeFleet, phones: Phones
) -> None:
    await an_office(database)
    await change.replace(ROOT, OLD, BY)

    with pytest.raises(AlreadyReplaced, match=NEW):
        await change.replace(ROOT, OLD, ReplacePhone(mac=OTHER))
    await phones.update(ROOT, OLD, PhonePatch(is_active=True))
    assert (await change.replace(ROOT, OLD, ReplacePhone(mac=OTHER))).mac == OTHER


@pytest.mark.parametrize(
    ("mac", "by", "error"),
    [(OLD, OLD, Invalid), (OLD, OTHER, AlreadyExists), (NEW, a_mac(9), NotFound)],
)
async def test_replacement_that_is_refused_changes_nothing(
    database: Database, change: ChangeFleet, mac: str, by: str, error: type[Exception]
) -> None:
    old = await an_office(database)
    await add(database, a_phone(3))

    with pytest.raises(error):
        await change.replace(ROOT, mac, ReplacePhone(mac=by))

    async with database.read() as tx:
        assert await tx.phones.find(OLD) == old
        assert (await tx.desks.find(OLD)).user_uuid is not None
        assert await tx.leases.holder(OLD) is None


async def test_phone_with_a_running_switch_is_not_replaced(
    database: Database, change: ChangeFleet
) -> None:
    await an_office(database)
    async with database.write() as tx:
        await tx.leases.take(OLD, "a switch", 60)

    with pytest.raises(PhoneBusy):
        await change.replace(ROOT, OLD, BY)


async def test_concurrent_replacements_deletions_and_creations_do_one_of_them(
    database: Database, change: ChangeFleet, phones: Phones
) -> None:
    await an_office(database)
    done = await asyncio.gather(
        *(change.replace(ROOT, OLD, ReplacePhone(mac=a_mac(number))) for number in (2, 3, 4)),
        phones.create(ROOT, CreatePhone(mac=NEW)),
        phones.delete(ROOT, OLD),
        return_exceptions=True,
    )

    assert all(isinstance(one, Phone | Conflict | NotFound | None) for one in done), done
    replaced = [one.mac for one in done[:3] if isinstance(one, Phone)]
    assert len(replaced) <= 1
    async with database.read() as tx:
        owned = {kem.connected_phone for kem in await tx.kems.rows(9)}
        macs = {phone.mac for phone in await tx.phones.rows(9)}
    assert owned == {replaced[0] if replaced else None}
    assert (OLD in macs) == isinstance(done[-1], Exception)


async def test_adopted_phone_has_its_address_model_and_desk(
    database: Database, change: ChangeFleet
) -> None:
    await add(database, a_user(1), a_profile(5, identifier(1), compatible_models=()))
    await see(database)
    new = AdoptPhone(name="Front", location="1st", profile_uuid=identifier(5))

    phone = await change.adopt(ROOT, NEW.replace(":", ""), new)

    assert (phone.mac, phone.phone_ip, phone.model) == (NEW, "10.0.0.9", "CP-7965G")
    assert (phone.name, phone.location, phone.is_active) == ("Front", "1st", True)
    async with database.read() as tx:
        assert await tx.phones.find(NEW) == record_of(Phone, phone)
        (desk,) = await tx.desks.unsettled(moment(9), 9, 9)
        assert not await tx.discovered_phones.rows(9)
    assert desk.default_profile_uuid == identifier(5)
    with pytest.raises(NotFound):
        await change.adopt(ROOT, NEW, new)


async def test_adoption_that_is_refused_changes_nothing(
    database: Database, change: ChangeFleet
) -> None:
    profile = a_profile(5, identifier(1), compatible_models=("8841",))
    await add(database, a_user(1), profile)
    await see(database)
    await see(database, OTHER)

    for mac, profile_uuid, error in (
        (OLD, None, NotFound),
        (NEW, identifier(6), NotFound),
        (NEW, identifier(5), Conflict),
    ):
        with pytest.raises(error):
            await change.adopt(ROOT, mac, AdoptPhone(profile_uuid=profile_uuid))
    async with database.read() as tx:
        assert not await tx.phones.rows(9)
    done = await asyncio.gather(
        *(change.adopt(ROOT, NEW, AdoptPhone()) for _ in range(4)), return_exceptions=True
    )
    assert [isinstance(one, Phone) for one in done].count(True) == 1
    assert all(isinstance(one, Phone | NotFound | Conflict) for one in done), done


async def test_phone_that_several_addresses_claim_needs_a_named_one(
    database: Database, change: ChangeFleet, information: MemoryPhone
) -> None:
    await an_office(database)
    now = timestamp(system_clock())
    async with database.write() as tx:
        for mac in (NEW, OTHER):
            for ip in ("10.0.0.9", "fd00::9", "10.0.0.66"):
                await tx.discovered_phones.see(mac, ip, None, "x", now)
    information.tells["10.0.0.9"] = DeviceInformation(mac=NEW, model="CP-7965G")

    for refused in (
        change.adopt(ROOT, NEW, AdoptPhone()),
        change.replace(ROOT, OLD, ReplacePhone(mac=OTHER)),
    ):
        with pytest.raises(SeveralAddresses, match=r"10\.0\.0\.66, fd00::9, 10\.0\.0\.9"):
            await refused
    with pytest.raises(Invalid):
        await change.adopt(ROOT, NEW, AdoptPhone(phone_ip="10.0.0.10"))
    adopted = await change.adopt(ROOT, NEW, AdoptPhone(phone_ip="10.0.0.9"))
    assert (adopted.phone_ip, adopted.model, adopted.mac_confirmed) == (
        "10.0.0.9", "CP-7965G", True,
    )  # fmt: skip
    placed = await change.replace(ROOT, OLD, ReplacePhone(mac=OTHER, phone_ip="fd00::9"))
    assert (placed.phone_ip, placed.mac_confirmed, placed.login_ip) == ("fd00::9", False, "fd00::9")


async def test_address_of_yesterday_is_no_other_claim_and_an_unconfirmed_one_gets_no_login(
    database: Database, change: ChangeFleet, information: MemoryPhone
) -> None:
    async with database.write() as tx:
        await tx.discovered_phones.see(NEW, "10.0.0.66", None, "x", moment(3))
        await tx.discovered_phones.see(NEW, "10.0.0.9", None, "x", timestamp(system_clock()))
    information.tells["10.0.0.9"] = DeviceInformation(mac=OTHER)

    phone = await change.adopt(ROOT, NEW, AdoptPhone())

    assert (phone.phone_ip, phone.mac_confirmed, phone.login_ip) == ("10.0.0.9", False, None)
    assert OTHER in phone.mac_note
