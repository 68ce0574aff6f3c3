"""Serving a file to a phone, recording the request, and reading the records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.serving.bootstrap import Bootstrap
from phoneprov_core.features.serving.model import (
    DiscoveredPhone,
    Fetch,
    FetchObserver,
    FetchResult,
    ProvisioningTransaction,
    Repeats,
    SharedFile,
    SharedFiles,
    Transport,
)
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor, require_superadmin
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, listing
from phoneprov_core.kernel.values import address_of, known_mac, millis, timestamp
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.model import Confirmation, Deployment, Outcome
from phoneprov_core.switching.devices.names import (
    MAX_NAME,
    Binding,
    Networks,
    mac_in,
    plain_name,
    requested_name,
)


class FileRequest(Struct, frozen=True):
    """A request for a file. ``model`` is what the phone says of itself, None if nothing."""

    transport: Transport
    name: str
    client_ip: str
    model: str | None = None


class Provided(Redacted, frozen=True):
    """The answer to a request: ``content`` or an open ``file`` if ``result`` is SERVED, else
    neither. ``mac`` is the phone, None if unknown; ``is_known`` whether it is in the inventory.
    ``attempt`` names the deployment whose configuration is served. ``uuid`` and ``at`` become the
    record's, so records are in the order of the requests, not of their ends."""

    request: FileRequest
    result: FetchResult
    mac: str | None = None
    is_known: bool = False
    content: Annotated[bytes | None, SECRET] = None
    file: SharedFile | None = None
    attempt: str | None = None
    uuid: str = ""
    at: str = ""


class Ended(Struct, frozen=True):
    """A request whose transfer ended ``at`` a moment, to be recorded. ``attempt`` names the
    deployment that it confirms; ``is_new`` tells a phone to list as discovered, ``has_row`` a
    request that is not one of a flood (see ``Repeats``)."""

    fetch: Fetch
    at: str
    model: str | None
    attempt: str | None
    is_new: bool
    has_row: bool = True
    is_known: bool = False

    @property
    def is_sign(self) -> bool:
        """Whether a phone of the inventory asked, and was not refused."""
        return self.is_known and self.fetch.result is not FetchResult.REFUSED

    @property
    def mac(self) -> str:
        """The phone, empty if unknown."""
        return self.fetch.mac or ""


@dataclass(frozen=True)
class ProvideFile:
    """Answers requests of phones. A request, its end and its record are three calls: the transfer
    lies between them, and records are written in groups. ``bootstrap`` is None if phones that are
    not in the inventory get no configuration."""

    database: ReadAndWrite[ProvisioningTransaction]
    shared_files: SharedFiles
    networks: Networks
    binding: Binding
    confirm: Confirm
    clock: Clock
    new_id: NewId
    observe: FetchObserver | None = None
    bootstrap: Bootstrap | None = None
    repeats: Repeats = field(default_factory=Repeats)

    async def open(self, request: FileRequest) -> Provided:
        """Decide what the client gets. Reads only; nothing is recorded yet. A phone's configuration
        goes to that phone's own address, and to none if it has no recorded one (see ``Binding``);
        all other files go to every address of the phone networks. Raises ``Unavailable``."""
        at, uuid = timestamp(self.clock()), self.new_id()
        return replace(await self._found(request), uuid=uuid, at=at)

    async def _found(self, request: FileRequest) -> Provided:
        name = plain_name(request.name)
        if name is None:
            return Provided(request, FetchResult.REFUSED)
        mac = mac_in(name)
        phone, served = None, None
        if mac is not None:
            async with self.database.read() as tx:
                phone = await tx.phones.find(mac)
                served = await tx.served_files.find(name)
        recorded, is_known = None if phone is None else phone.phone_ip, phone is not None
        if not self.binding.allows(self.networks, recorded, request.client_ip):
            return Provided(request, FetchResult.REFUSED, mac, is_known)
        if served is not None and phone is not None:
            if not self.binding.allows_own(self.networks, recorded, request.client_ip):
                return Provided(request, FetchResult.REFUSED, mac)
            return Provided(
                request,
                FetchResult.SERVED,
                mac,
                is_known,
                content=served.content,
                attempt=served.attempt,
            )
        file = await self.shared_files.open(name)
        if file is None and mac is not None and phone is None:
            content = await self._bootstrap(request, name, mac)
            if content is not None:
                return Provided(request, FetchResult.SERVED, mac, content=content)
        result = FetchResult.NOT_FOUND if file is None else FetchResult.SERVED
        return Provided(request, result, mac, is_known, file=file)

    async def _bootstrap(self, request: FileRequest, name: str, mac: str) -> bytes | None:
        """The configuration for a phone of the phone networks that is not in the inventory."""
        ip = request.client_ip
        if self.bootstrap is None or not self.networks.contains(ip):
            return None
        if not self.repeats.is_noticed(ip, mac, millis(self.clock())):
            return None
        return await self.bootstrap(name, mac, ip, request.model)

    def ended(self, provided: Provided, *, is_complete: bool, size: int, duration_ms: int) -> Ended:
        """A request after its transfer: ``size`` bytes reached the client."""
        request, result, now = provided.request, provided.result, self.clock()
        if result is FetchResult.SERVED and not is_complete:
            result = FetchResult.FAILED
        fetch = Fetch(
            uuid=provided.uuid,
            mac=provided.mac,
            name="".join(
                c if c.isprintable() else "?" for c in requested_name(request.name)[:MAX_NAME]
            ),
            transport=request.transport,
            client_ip=str(address_of(request.client_ip) or request.client_ip),
            result=result,
            bytes=size,
            duration_ms=duration_ms,
            created_at=provided.at,
        )
        attempt = provided.attempt if result is FetchResult.SERVED else None
        return Ended(
            fetch,
            timestamp(now),
            request.model,
            attempt,
            is_new=(
                provided.mac is not None
                and not provided.is_known
                and self.networks.contains(request.client_ip)
                and self.repeats.is_noticed(request.client_ip, provided.mac, millis(now))
            ),
            has_row=self.repeats.has_row(fetch, millis(now)),
            is_known=provided.is_known,
        )

    async def record(self, group: Sequence[Ended]) -> None:
        """Record requests in one transaction.

        A fetch of the configuration of the phone's current deployment confirms that deployment,
        once the file was in place, the phone was restarted, and runs its load. A phone that is not
        in the inventory is listed among the discovered ones if it asked from the phone networks.
        """
        # In one order of rows: transactions of several processes never wait for each other.
        discovered = sorted((one for one in group if one.is_new), key=lambda one: one.mac)
        attempts = {one.attempt: one for one in group if one.attempt is not None}
        confirmed: list[Deployment] = []
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            for one in group:
                if one.has_row:
                    await tx.fetches.add(one.fetch)
            for one in discovered:
                fetch = one.fetch
                await tx.discovered_phones.see(
                    one.mac, fetch.client_ip, one.model, fetch.name, fetch.created_at
                )
            for attempt in sorted(attempts):
                one = attempts[attempt]
                deployment = await self._confirm(tx, one, attempt)
                if deployment is not None:
                    confirmed.append(deployment)
                    if not one.has_row:
                        await tx.fetches.add(one.fetch)
            signs = {one.mac: one.at for one in group if one.is_sign}
            for mac in sorted(signs):
                await tx.fleet.saw(mac, signs[mac])
        for deployment in confirmed:
            if deployment.awaits_load:
                self.confirm.await_load(deployment)
            else:
                self.confirm.journal(deployment)
        if self.observe is not None:
            for one in group:
                self.observe(one.fetch)

    async def _confirm(
        self, tx: ProvisioningTransaction, ended: Ended, attempt: str
    ) -> Deployment | None:
        fetch = ended.fetch
        kept = await tx.deployments.find(attempt)
        if (
            kept is None
            or kept.outcome is not Outcome.DEPLOYED
            or kept.confirmation is Confirmation.CONFIRMED
            or kept.awaits_load
        ):
            return None
        transport = fetch.transport.value.upper()
        message = f"The phone fetched {fetch.name} by {transport} (fetch {fetch.uuid})."
        confirmed = self.confirm.seen_again(kept, message, datetime.fromisoformat(ended.at))
        await tx.deployments.put(confirmed)
        return confirmed


@dataclass(frozen=True)
class Fetches:
    """The requests of one phone: every account reads them, like the phone itself."""

    database: ReadAndWrite[ProvisioningTransaction]

    async def newest(
        self,
        actor: Actor,
        mac: str,
        limit: int,
        *,
        before: str | None = None,
    ) -> list[Fetch]:
        """At most ``limit`` requests, newest first, after the uuid ``before``. Level 0
        alone reads their sizes: sizes of configurations reveal the lengths of secrets. Raises
        ``NotFound`` if the phone is not in the inventory."""
        mac = known_mac(mac)
        async with self.database.read() as tx:
            require(await tx.phones.find(mac), "phone")
            fetches = await tx.fetches.newest(mac, limit, before=before)
        if actor.holds(SUPERADMIN):
            return fetches
        return [replace(fetch, bytes=None) for fetch in fetches]


@dataclass(frozen=True)
class DiscoveredPhones:
    """Phones that asked for files and are not in the inventory: level 0 reads them."""

    database: ReadAndWrite[ProvisioningTransaction]

    async def all(self, actor: Actor, page: Page = None) -> Listing[DiscoveredPhone]:
        """Every phone, the first seen first. Raises ``Forbidden``."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: tx.discovered_phones, page)
