"""Several processes work on batches in one database: every phone is done once."""

import asyncio
from collections import Counter

from phoneprov_adapters.memory.devices import MemoryManager, MemoryPhone, MemoryUploader
from phoneprov_adapters.memory.system import MemoryBackground, await_directly
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.runtime.tasks import random_id, system_clock
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Counts
from phoneprov_core.features.batches.run import RunBatches
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.batches.work import PhoneWork
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.templates.deployed import KeepTexts, RenderedTexts
from phoneprov_core.features.templates.recipes import Rendering
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import LevelRule, system_actor
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.deployments.confirm import Confirm, Watch
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import DeploymentFilter
from phoneprov_core.switching.deployments.records import Records
from phoneprov_core.switching.devices.commands import CiscoPhones, RestartBy
from support.phone_records import a_phone
from support.records import a_mac, a_user, identifier

PHONES = 30
ROOT = system_actor(LevelRule.STRICT)


def a_process(database: Database, uploader: MemoryUploader) -> RunBatches:
    """The batch worker of one process."""
    background = MemoryBackground()
    driver = CiscoPhones(RestartBy.AUTO, MemoryPhone(), MemoryManager())
    confirm = Confirm(
        database,
        Watch(None, None, seconds=0),
        background,
        lambda _: None,
        system_clock,
        asyncio.sleep,
    )
    occupancy = Occupancy(system_clock)
    records = Records(
        database,
        lambda _: None,
        system_clock,
        random_id,
        asyncio.sleep,
        participants=(KeepTexts(), occupancy),
    )
    texts = RenderedTexts(Rendering(JinjaRenderer(), "", 1000))
    deploy = Deploy(records, uploader, driver, confirm, await_directly, texts)
    work = PhoneWork(
        database, deploy, occupancy, driver, None, await_directly, system_clock, random_id
    )
    return RunBatches(
        database, work, await_directly, asyncio.sleep, lambda _: None, system_clock, random_id
    )


async def test_batch_phones_are_claimed_once_across_processes(database: Database) -> None:
    uploader = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES))
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        for number in range(1, PHONES + 1):
            await tx.phones.add(a_phone(number, phone_ip=f"10.0.0.{number}"))
    new = CreateProfile(user_uuid=identifier(1), name="The floor", cnf_xml="<device/>")
    profile = await Profiles(database, system_clock, random_id).create(ROOT, new)
    processes = [a_process(database, uploader) for _ in range(4)]
    background = MemoryBackground()
    batches = Batches(database, processes[0], background, system_clock, random_id)
    halves = [tuple(a_mac(n) for n in range(first, PHONES + 1, 2)) for first in (1, 2)]

    begun = [
        await batches.start(
            ROOT, CreateBatch(action="switch", profile_uuid=profile.uuid, macs=macs, at_once=4)
        )
        for macs in halves
    ]
    async with asyncio.timeout(60):
        await asyncio.gather(*(process() for process in processes))
        await background.done()

    for batch in begun:
        assert (await batches.get(ROOT, batch.uuid)).phones == Counts(
            done=PHONES // 2, total=PHONES // 2
        )
    assert set(Counter(upload.filename for upload in uploader.uploads).values()) == {1}
    async with database.read() as tx:
        assert await tx.deployments.matching(DeploymentFilter()).count() == PHONES
