"""Services in the menu of the vendor's phones: every account reads them, superadmins write them."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import Actor, SharedWrite, require_shared_write
from phoneprov_core.kernel.commands import Command, applied, record_of
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import (
    CreatedAt,
    OptionalLine,
    RecordUuid,
    ServiceUrl,
    UpdatedAt,
    schema,
)
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, Store, listing
from phoneprov_core.kernel.values import known_id, timestamp

Name = Annotated[OptionalLine, schema("Name of the service", examples=["Company directory"])]
Type = Annotated[OptionalLine, schema("Kind of service; free text", examples=["IPPhone"])]


class VendorService(Struct, frozen=True):
    """A service: name and URL. Phones open the URL; this service never requests it."""

    uuid: RecordUuid
    name: Name | None
    url: ServiceUrl | None
    type: Type | None
    created_at: CreatedAt
    updated_at: UpdatedAt


class CreateVendorService(Command, frozen=True, kw_only=True):
    """A service to be created; every field is optional."""

    name: Name | None = None
    url: ServiceUrl | None = None
    type: Type | None = None


class VendorServicePatch(Command, frozen=True, kw_only=True):
    """Changes to a service."""

    name: Name | UnsetType | None = UNSET
    url: ServiceUrl | UnsetType | None = UNSET
    type: Type | UnsetType | None = UNSET


class VendorServicesTransaction(Protocol):
    """Stores that the use cases of service definitions use."""

    @property
    def vendor_services(self) -> Store[VendorService]: ...


@dataclass(frozen=True)
class VendorServices:
    """Create, read, change and delete service definitions."""

    database: ReadAndWrite[VendorServicesTransaction]
    shared_write: SharedWrite
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[VendorService]:  # noqa: ARG002
        """Every service, oldest first."""
        return await listing(self.database.read, lambda tx: tx.vendor_services, page)

    async def get(self, actor: Actor, uuid: str) -> VendorService:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            return require(await tx.vendor_services.find(known_id(uuid)), "service")

    async def create(self, actor: Actor, new: CreateVendorService) -> VendorService:
        """Define a service."""
        require_shared_write(actor, self.shared_write)
        now = timestamp(self.clock())
        service = record_of(VendorService, new, uuid=self.new_id(), created_at=now, updated_at=now)
        async with self.database.write(by=actor) as tx:
            await tx.vendor_services.add(service)
        return service

    async def update(self, actor: Actor, uuid: str, patch: VendorServicePatch) -> VendorService:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            service = require(await tx.vendor_services.find(known_id(uuid)), "service")
            service = applied(service, patch, updated_at=timestamp(self.clock()))
            await tx.vendor_services.put(service)
        return service

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            require(await tx.vendor_services.remove(known_id(uuid)), "service")
