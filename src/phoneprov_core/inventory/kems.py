"""Key expansion modules (KEMs): every account reads them, superadmins write them."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import Actor, SharedWrite, require_shared_write
from phoneprov_core.kernel.commands import Command, QueryCommand, applied, record_of
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import (
    CreatedAt,
    IpAddress,
    MacAddress,
    OptionalLine,
    RecordUuid,
    SoftwareType,
    schema,
)
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite, Store
from phoneprov_core.kernel.values import known_id, timestamp

Model = Annotated[OptionalLine, schema("Model", examples=["CP-7916"])]
ConnectedPhone = Annotated[
    MacAddress, schema("MAC address of the connected phone, which need not be in the inventory")
]

KemMac = Annotated[MacAddress, schema("MAC address of the module", examples=["00:1B:D4:65:43:21"])]
KemIp = Annotated[IpAddress, schema("IPv4 or IPv6 address of the module")]
SoftwareVersion = Annotated[OptionalLine, schema("Firmware version", examples=["B016-1-0-4-2"])]


class Kem(Struct, frozen=True):
    """A key expansion module. ``connected_phone`` is the MAC of its phone, which need not be in the
    inventory."""

    uuid: RecordUuid
    model: Model | None
    mac: KemMac | None
    ip: KemIp | None
    connected_phone: ConnectedPhone | None
    software_version: SoftwareVersion | None
    software_type: SoftwareType | None
    created_at: CreatedAt


class CreateKem(Command, frozen=True, kw_only=True):
    """A KEM to be created; every field is optional."""

    model: Model | None = None
    mac: KemMac | None = None
    ip: KemIp | None = None
    connected_phone: ConnectedPhone | None = None
    software_version: SoftwareVersion | None = None
    software_type: SoftwareType | None = None


class KemPatch(Command, frozen=True, kw_only=True):
    """Changes to a KEM."""

    model: Model | UnsetType | None = UNSET
    mac: KemMac | UnsetType | None = UNSET
    ip: KemIp | UnsetType | None = UNSET
    connected_phone: ConnectedPhone | UnsetType | None = UNSET
    software_version: SoftwareVersion | UnsetType | None = UNSET
    software_type: SoftwareType | UnsetType | None = UNSET


class WantedKems(QueryCommand, frozen=True, kw_only=True):
    """Which KEMs a list shows."""

    connected_phone: Annotated[MacAddress, schema("Only modules of this phone")] | None = None


class KemStore(Store[Kem], Protocol):
    """KEMs, by uuid; their owner is the connected phone, which need not be in the inventory."""

    async def disconnect(self, phone_mac: str) -> None:
        """Set ``connected_phone`` to None for every KEM of this phone; changes no other field."""


class KemsTransaction(Protocol):
    """Stores that the use cases of KEMs use."""

    @property
    def kems(self) -> KemStore: ...


@dataclass(frozen=True)
class Kems:
    """Create, read, change and delete KEMs. A KEM may be created before its phone."""

    database: ReadAndWrite[KemsTransaction]
    shared_write: SharedWrite
    clock: Clock
    new_id: NewId

    async def all(
        self,
        actor: Actor,  # noqa: ARG002
        page: Page = None,
        wanted: WantedKems | None = None,
    ) -> Listing[Kem]:
        """Every KEM, or the KEMs of one phone, oldest first."""
        phone = wanted.connected_phone if wanted else None
        return await listing(self.database.read, lambda tx: tx.kems, page, owner=phone)

    async def get(self, actor: Actor, uuid: str) -> Kem:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return require(await tx.kems.find(known_id(uuid)), "KEM")

    async def create(self, actor: Actor, new: CreateKem) -> Kem:
        """Create a KEM."""
        require_shared_write(actor, self.shared_write)
        kem = record_of(Kem, new, uuid=self.new_id(), created_at=timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.kems.add(kem)
        return kem

    async def update(self, actor: Actor, uuid: str, patch: KemPatch) -> Kem:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            kem = require(await tx.kems.find(known_id(uuid)), "KEM")
            kem = applied(kem, patch)
            await tx.kems.put(kem)
        return kem

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            require(await tx.kems.remove(known_id(uuid)), "KEM")
