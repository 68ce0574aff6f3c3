"""What is recorded of a phone beside the phone itself, also of one outside the inventory: key
expansion modules (KEMs) and vendor flags. Every account reads them, superadmins write them."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.actor import Actor, SharedWrite, require_shared_write
from phoneprov_core.kernel.commands import Command, QueryCommand, applied, record_of, wrong
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import (
    CreatedAt,
    IpAddress,
    MacAddress,
    OptionalLine,
    RecordUuid,
    SoftwareType,
    StoredMac,
    schema,
)
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, Store, listing
from phoneprov_core.kernel.values import Timestamp, known_id, timestamp

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


Vendor = Annotated[bool, schema("Whether the phone is a vendor phone")]


class VendorPhone(Struct, frozen=True):
    """The vendor flag of a phone, which need not be in the inventory."""

    mac: StoredMac
    vendor: Vendor


class VendorPhoneRecord(VendorPhone, frozen=True):
    """A flag as it is stored, with the time of its creation, which orders lists alone."""

    created_at: Timestamp


class VendorPhoneFlag(Command, frozen=True, kw_only=True):
    """The flag to be set."""

    vendor: Vendor


class VendorPhoneStore(Store[VendorPhoneRecord], Protocol):
    """Vendor phone flags, by the phone's MAC. The phone need not be in the inventory."""

    async def save(self, record: VendorPhoneRecord) -> None:
        """Add or replace the flag of the phone, in one statement; an existing flag keeps its
        created_at. Of concurrent callers exactly one flag remains."""


class VendorPhonesTransaction(Protocol):
    """Stores that the use cases of vendor phone flags use."""

    @property
    def vendor_phones(self) -> VendorPhoneStore: ...


@dataclass(frozen=True)
class VendorPhones:
    """Read, set and delete flags of phones, in the inventory or not, by MACs in any spelling."""

    database: ReadAndWrite[VendorPhonesTransaction]
    shared_write: SharedWrite
    clock: Clock

    async def all(self, actor: Actor, page: Page = None) -> Listing[VendorPhone]:  # noqa: ARG002
        """Every flag, oldest first."""
        records = await listing(self.database.read, lambda tx: tx.vendor_phones, page)
        return records.mapped(lambda record: record_of(VendorPhone, record))

    async def get(self, actor: Actor, mac: str) -> VendorPhone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            record = require(await tx.vendor_phones.find(addresses.known_mac(mac)), "vendor phone")
        return record_of(VendorPhone, record)

    async def save(self, actor: Actor, mac: str, flag: VendorPhoneFlag) -> VendorPhone:
        """Set the flag of a phone. Raises ``Invalid`` also if the MAC in the path is invalid."""
        require_shared_write(actor, self.shared_write)
        try:
            addressed = addresses.mac(mac)
        except ValueError as error:
            raise wrong("mac", str(error)) from None
        record = VendorPhoneRecord(addressed, flag.vendor, timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.vendor_phones.save(record)
        return record_of(VendorPhone, record)

    async def delete(self, actor: Actor, mac: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            require(await tx.vendor_phones.remove(addresses.known_mac(mac)), "vendor phone")
