"""A floor of phones for batches."""

import asyncio
from typing import Any

from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchPhone
from phoneprov_core.features.batches.plan import PlanBatch
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import Profile
from support.office import Settings, compare_directly
from support.records import a_mac
from support.switching import XML, Desk

FLOOR = "2nd floor"


class Floor(Desk):
    """Phones on the second floor, and a profile of Ada."""

    def __init__(self, settings: Settings | None = None, phones: int = 12) -> None:
        super().__init__(settings)
        self._count = phones

    async def furnish(self) -> None:
        await self.add_phones(range(1, self._count + 1))
        self.profile = await self.profile_of(self.ada, XML, "The floor")

    async def add_phones(self, numbers: range) -> None:
        for number in numbers:
            self.clock.advance(0.001)
            new = CreatePhone(
                mac=a_mac(number),
                model="CP-7945G",
                phone_ip=f"10.20.{30 + number // 256}.{number % 256}",
                software_type="SCCP",
                location=FLOOR,
            )
            await self.phones.create(self.root, new)

    async def begin(self, profile: Profile | None = None, **more: Any) -> Batch:
        """Start a batch of switches, by default of the whole floor to its profile."""
        uuid = (profile or self.profile).uuid
        return await self.begin_without(**{"action": "switch", "profile_uuid": uuid, **more})

    async def begin_without(self, **more: Any) -> Batch:
        """Start a batch without a profile, by default of restarts."""
        values: dict[str, Any] = {"action": "restart"}
        if not {"macs", "model", "location", "software_type"} & set(more):
            values["location"] = FLOOR
        return await self.batches.start(self.root, CreateBatch(**(values | more)))

    async def run(self, profile: Profile | None = None, **more: Any) -> Batch:
        return await self.ended(await self.begin(profile, **more))

    async def run_without(self, **more: Any) -> Batch:
        return await self.ended(await self.begin_without(**more))

    async def ended(self, batch: Batch) -> Batch:
        """Wait until no worker is active; the batch."""
        await self.background.done()
        return await self.batches.get(self.root, batch.uuid)

    async def phones_of(self, batch: Batch) -> list[BatchPhone]:
        return await (await self.batches.phones(self.root, batch.uuid)).everything()

    async def all_batches(self) -> list[Batch]:
        return await (await self.batches.all(self.root)).everything()

    async def until_it_ended(self, batch: Batch, seen: set[str]) -> Batch:
        """Phones in ``seen`` register again, others are missed."""
        for _ in range(4000):
            await asyncio.sleep(0)
            for mac in list(self.watch.watched):
                (self.watch.comes_back if mac in seen else self.watch.goes_missing)(mac)
            now = await self.batches.get(self.root, batch.uuid)
            if now.ended_at is not None:
                return now
        raise AssertionError("the batch did not end")

    def sent(self) -> dict[str, bytes]:
        return {upload.filename[-11:-8]: upload.content for upload in self.uploader.uploads}

    async def plan(self, **fields: Any) -> Any:
        use_case = PlanBatch(self.database, self.deploy, compare_directly)
        return await use_case(self.root, CreateBatch(**{"action": "switch", **fields}))
