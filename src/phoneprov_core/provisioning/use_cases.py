"""Serving a file to a phone, recording the request, and reading the records."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Struct

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.deployments.model import Confirmation, Deployment, Outcome
from phoneprov_core.deployments.ports import Journal
from phoneprov_core.devices.binding import Binding, Networks
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, shown
from phoneprov_core.provisioning.model import DiscoveredPhone, Fetch, FetchResult, Transport
from phoneprov_core.provisioning.names import MAX_NAME, mac_in, plain_name
from phoneprov_core.provisioning.ports import (
    FetchObserver,
    ProvisioningTransaction,
    SharedFile,
    SharedFiles,
)


class FileRequest(Struct, frozen=True):
    """A request for a file. ``model`` is what the phone says of itself, None if nothing."""

    transport: Transport
    name: str
    client_ip: str
    model: str | None = None


class Provided(Redacted, frozen=True):
    """The answer to a request: ``content`` or an open ``file`` if ``result`` is SERVED, else
    neither. ``mac`` is the phone, None if unknown. ``attempt`` names the deployment whose
    configuration is served."""

    request: FileRequest
    result: FetchResult
    mac: str | None = None
    content: Annotated[bytes | None, SECRET] = None
    file: SharedFile | None = None
    attempt: str | None = None


@dataclass(frozen=True)
class ProvideFile:
    """Answers requests of phones. A request and its record are two calls, because the transfer
    lies between them."""

    database: ReadAndWrite[ProvisioningTransaction]
    shared_files: SharedFiles
    networks: Networks
    binding: Binding
    journal: Journal
    clock: Clock
    new_id: NewId
    observe: FetchObserver | None = None

    async def open(self, request: FileRequest) -> Provided:
        """Decide what the client gets. Reads only; nothing is recorded yet.

        A phone's configuration goes to that phone's own address (see ``Binding``); all
        other files go to every address of the phone networks. Raises ``Unavailable``.
        """
        name = plain_name(request.name)
        if name is None:
            return Provided(request, FetchResult.REFUSED)
        mac = mac_in(name)
        phone, served = None, None
        if mac is not None:
            async with self.database.read() as tx:
                phone = await tx.phones.find(mac)
                served = await tx.served_files.find(name)
        recorded = None if phone is None else phone.phone_ip
        if not self.binding.allows(self.networks, recorded, request.client_ip):
            return Provided(request, FetchResult.REFUSED, mac)
        if served is not None and phone is not None:
            return Provided(
                request, FetchResult.SERVED, mac, content=served.content, attempt=served.attempt
            )
        file = await self.shared_files.open(name)
        result = FetchResult.NOT_FOUND if file is None else FetchResult.SERVED
        return Provided(request, result, mac, file=file)

    async def record(
        self, provided: Provided, *, is_complete: bool, size: int, duration_ms: int
    ) -> Fetch:
        """Record a request after its transfer: ``size`` bytes reached the client.

        A fetch of the configuration of the phone's current deployment confirms that deployment,
        once the file was in place and the phone was restarted. A phone that is not in the
        inventory is listed among the discovered ones if it asked from the phone networks.
        """
        request = provided.request
        result = provided.result
        if result is FetchResult.SERVED and not is_complete:
            result = FetchResult.FAILED
        now = shown(self.clock())
        fetch = Fetch(
            uuid=self.new_id(),
            mac=provided.mac,
            name=_shown_name(request.name),
            transport=request.transport,
            client_ip=request.client_ip,
            result=result,
            bytes=size,
            duration_ms=duration_ms,
            created_at=now,
        )
        confirmed = None
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await tx.fetches.add(fetch)
            if provided.mac is not None:
                if provided.attempt is not None and result is FetchResult.SERVED:
                    confirmed = await self._confirm(tx, fetch, provided.attempt)
                elif (
                    self.networks.contains(request.client_ip)
                    and await tx.phones.find(provided.mac) is None
                ):
                    await tx.discovered_phones.see(
                        provided.mac, request.client_ip, request.model, fetch.name, now
                    )
        if confirmed is not None:
            self.journal(confirmed)
        if self.observe is not None:
            self.observe(fetch)
        return fetch

    async def _confirm(
        self, tx: ProvisioningTransaction, fetch: Fetch, attempt: str
    ) -> Deployment | None:
        kept = await tx.deployments.find(attempt)
        if (
            kept is None
            or kept.outcome is not Outcome.DEPLOYED
            or kept.confirmation is Confirmation.CONFIRMED
        ):
            return None
        confirmed = msgspec.structs.replace(
            kept,
            confirmation=Confirmation.CONFIRMED,
            confirmation_message=(
                f"The phone fetched {fetch.name} by {fetch.transport.value.upper()}"
                f" (fetch {fetch.uuid})."
            ),
            confirmation_at=fetch.created_at,
        )
        await tx.deployments.put(confirmed)
        return confirmed


@dataclass(frozen=True)
class Fetches:
    """The requests of one phone: every account reads them, like the phone itself."""

    database: ReadAndWrite[ProvisioningTransaction]

    async def newest(
        self,
        actor: Actor,  # noqa: ARG002 - every account
        mac: str,
        limit: int,
        *,
        before: str | None = None,
    ) -> list[Fetch]:
        """At most ``limit`` requests, newest first, after the one with the uuid ``before``.

        Raises ``NotFound`` if the phone is not in the inventory.
        """
        mac = known_mac(mac)
        async with self.database.read() as tx:
            found(await tx.phones.find(mac), "phone")
            return await tx.fetches.newest(mac, limit, before=before)


@dataclass(frozen=True)
class DiscoveredPhones:
    """Phones that asked for files and are not in the inventory: level 0 reads them."""

    database: ReadAndWrite[ProvisioningTransaction]

    async def all(self, actor: Actor, page: Page = None) -> Listing[DiscoveredPhone]:
        """Every phone, the first seen first. Raises ``Forbidden``."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: tx.discovered_phones, page)


def _shown_name(name: str) -> str:
    """A requested name that is safe to store and to print: at most 255 characters, printable."""
    return "".join(c if c.isprintable() else "?" for c in name[:MAX_NAME])
