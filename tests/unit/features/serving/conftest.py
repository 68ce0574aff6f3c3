"""A memory database with a phone that was switched, and the use case over it."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.system import MemoryBackground
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.serving.uploader import Folder
from phoneprov_core.features.serving.model import ServedFile
from phoneprov_core.features.serving.use_cases import ProvideFile
from phoneprov_core.switching.deployments.confirm import Confirm, Watch
from phoneprov_core.switching.deployments.model import Confirmation, Deployment, Outcome
from phoneprov_core.switching.devices.names import Binding
from support.phone_records import a_deployment, a_phone

MAC = "00:1B:D4:12:34:56"
NAME = "SEP001BD4123456.cnf.xml"
PHONE_IP = "10.20.30.40"
OTHER_IP = "10.20.30.41"
CONTENT = b"<device/>"


@dataclass
class Office:
    """The use case, its database and what was logged."""

    folder: Path
    database: MemoryDatabase = field(default_factory=MemoryDatabase)
    journal: list[Deployment] = field(default_factory=list)
    now: datetime = datetime(2026, 1, 31, 8, 0, tzinfo=UTC)
    last_id: int = 0

    def __post_init__(self) -> None:
        self.background = background = MemoryBackground()
        watch = Watch(None, None, seconds=120)
        self.confirm = Confirm(
            self.database, watch, background, self.journal.append, self._clock, asyncio.sleep
        )

    def provide(self, binding: Binding = Binding.ADDRESS) -> ProvideFile:
        return ProvideFile(
            self.database,
            Folder(self.folder),
            PhoneNetworks.parse("10.0.0.0/8"),
            binding,
            self.confirm,
            self._clock,
            self._new_id,
        )

    def _clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def _new_id(self) -> str:
        self.last_id += 1
        return f"00000000-0000-4000-8000-{self.last_id:012d}"


@pytest.fixture
async def office(tmp_path: Path) -> Office:
    office = Office(tmp_path)
    deployment = a_deployment(
        1, MAC, outcome=Outcome.DEPLOYED, confirmation=Confirmation.PENDING, place=f"served/{NAME}"
    )
    async with office.database.write() as tx:
        await tx.phones.add(a_phone(1, mac=MAC, phone_ip=PHONE_IP))
        await tx.served_files.put(ServedFile(NAME, CONTENT, deployment.uuid))
        await tx.deployments.add(deployment)
    return office
