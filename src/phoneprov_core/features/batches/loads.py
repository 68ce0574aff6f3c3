"""Whether the firmware loads that a batch brings are there, before its first phone is started."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.batches.ports import BatchesTransaction, Claim
from phoneprov_core.features.batches.rules import changed_since
from phoneprov_core.features.serving.loads import CheckLoad, LoadFiles
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Action, Deployment
from phoneprov_core.switching.deployments.order import (
    DeploymentRequest,
    current_of,
    deployed_text,
    load_order,
)
from phoneprov_core.switching.deployments.texts import Rendered
from phoneprov_core.switching.devices.loads import loads_to_fetch, runs_load


@dataclass(eq=False)
class LoadFaults:
    """What is wrong with the loads of a batch; ``check`` is None without a folder of files."""

    check: CheckLoad | None
    _files: dict[str, LoadFiles] = field(default_factory=dict)

    async def of(self, new: str, old: Rendered | None, reported: str | None) -> str | None:
        """Why a phone with the configuration ``old``, which ``reported`` its firmware, cannot get
        the loads of ``new``. A load that the phone runs is not looked for."""
        if self.check is None:
            return None
        wanted = loads_to_fetch(new, old.text if old else None)
        if wanted.phone and not runs_load(reported, wanted.phone):
            files = await self._of(self.check, wanted.phone)
            if files.fault and not runs_load(reported, wanted.phone, files.listed):
                return files.fault
        for module in wanted.modules:
            if fault := (await self._of(self.check, module)).fault:
                return fault
        return None

    async def _of(self, check: CheckLoad, load: str) -> LoadFiles:
        if load not in self._files:
            self._files[load] = await check(load)
        return self._files[load]

    async def of_phones(
        self,
        database: ReadAndWrite[BatchesTransaction],
        deploy: Deploy,
        batch: Batch,
        phones: Iterable[Claim],
    ) -> str | None:
        """The first fault among these phones. One that will not be switched anyway has none."""
        for one in phones:
            try:
                async with database.read() as tx:
                    phone = await tx.phones.find(one.mac)
                    if phone is None or not phone.is_active:
                        continue
                    profile_uuid = one.profile_uuid or batch.profile_uuid
                    order, old, _ = await switch_of(tx, phone, profile_uuid, batch.revision)
                    if await changed_since(tx, batch, one, order):
                        continue
                    reported = await reported_load(tx, phone)
                fault = await self.of((await deploy.texts(order)).cnf_xml, old, reported)
            except (Conflict, NotFound):
                continue
            if fault is not None:
                return fault
        return None


async def reported_load(tx: BatchesTransaction, phone: Phone) -> str | None:
    """The firmware that the phone stated last, None if it is not known."""
    seen = await tx.fleet.find(phone.mac)
    return seen.reported_load if seen else None


async def switch_of(
    tx: BatchesTransaction, phone: Phone, profile_uuid: str | None, revision: int | None
) -> tuple[DeploymentRequest, Rendered | None, Deployment | None]:
    """The order of a phone of a batch, by default for the profile that it has, the text of the
    file that is certainly in place, and its deployment. Raises ``NotFound``,
    ``NoTemplateFits``."""
    current = await current_of(tx.deployments, phone)
    if profile_uuid is None and current is not None:
        profile_uuid = current.profile_uuid
    order = await order_of_phone(tx, phone, profile_uuid, revision)
    in_place = await tx.deployments.in_place(phone.mac)
    return order, await deployed_text(tx, in_place) if in_place else None, in_place


async def order_of_phone(
    tx: BatchesTransaction, phone: Phone, profile_uuid: str | None, revision: int | None
) -> DeploymentRequest:
    """As ``switch_of``, the order alone."""
    if profile_uuid is None:
        current = await current_of(tx.deployments, phone)
        if current is None:
            raise NotFound("No deployment of this phone is recorded; switch it to a profile first.")
        profile_uuid = current.profile_uuid
    profile = await tx.profiles.find(profile_uuid)
    order = None
    if profile is not None:
        order = await load_order(tx, Action.SWITCH, profile, phone, revision)
    if order is None:
        raise NotFound("The profile was deleted.")
    return order
