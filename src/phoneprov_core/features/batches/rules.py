"""What a batch may contain, and the revisions that it is pinned to."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchAction, Counts
from phoneprov_core.features.batches.ports import BatchesTransaction, Claim, PlannedVariant
from phoneprov_core.features.history.use_cases import order_as_of
from phoneprov_core.features.serving.bootstrap import CheckLoad, LoadFiles
from phoneprov_core.features.templates.recipes import Recipe, best
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Action, Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest, load_order
from phoneprov_core.switching.deployments.ports import Rendered, current_of, deployed_text
from phoneprov_core.switching.deployments.records import Records
from phoneprov_core.switching.devices.names import loads_to_fetch, runs_load

_PIECE = 16


async def pin(tx: BatchesTransaction, batch: Batch, *, is_given: bool) -> None:
    """Pin the phones of a batch, unless it deploys the newest texts. With a named revision
    (``is_given``), or the revision of a batch without a plan for all its phones, later revisions do
    not matter."""
    if batch.action is not BatchAction.SWITCH or batch.newest or batch.as_of:
        return
    variants, last = [], None
    while piece := await tx.templates.rows(_PIECE, after=last):
        last = piece[-1]
        variants += [
            PlannedVariant(one.uuid, one.name, one.model, one.software_type, one.revision)
            for one in piece
        ]
    is_fixed = is_given or (batch.profile_uuid is not None and batch.start_at is None)
    await tx.batches.pin(batch, variants, revisions=not is_fixed)


async def changed_since(
    tx: BatchesTransaction, batch: Batch, claim: Claim, order: DeploymentRequest
) -> str | None:
    """The change of a phone's order since the batch was created, as a sentence; None without
    one."""
    if batch.newest or claim.planned_profile is None:
        return None
    if order.profile.uuid != claim.planned_profile:
        return "The phone got another profile since the batch was created."
    if claim.planned_revision is not None:
        newest = await tx.revisions.newest(order.profile.uuid)
        if newest is None or newest.number != claim.planned_revision:
            return (
                f"The profile {order.profile.name} changed since the batch was created: it had "
                f"revision {claim.planned_revision}."
            )
    recipe = order.part(Recipe)
    if recipe is None:
        return None
    template = recipe.template
    named = [one for one in await tx.batches.pinned(batch.uuid) if one.name == template.name]
    planned = best(named, order.phone.model, recipe.family)
    if planned is None or (planned.uuid, planned.revision) != (template.uuid, template.revision):
        return f"The template {template.label} changed since the batch was created."
    return None


JUDGED_FROM = 10
"""Minimum number of processed phones before the share of failures counts."""

MOST_CUT_OFF = 3
"""Number of interrupted attempts after which a phone is given up: it may be the cause."""

LOOK_AGAIN_SECONDS = 30
"""Seconds until a busy phone is tried again."""

RESTARTING_SECONDS = 5
"""Seconds until a phone that restarts is tried again."""

_MINUTE = timedelta(minutes=1)
_LAG = timedelta(seconds=0.1)
"""Maximum delay of a check that the next starts make up for, so that polling does not lower the
rate."""


class Pace:
    """The time when the next phone may be started. The intervals are equal, except after a phone
    that was counted and not started; at most ``per_minute`` are started in any minute. None is no
    limit. ``last`` is when another worker started the last phone of the batch."""

    def __init__(self, per_minute: int | None, clock: Clock, last: str | None = None) -> None:
        self._most = per_minute or 0
        self._distance = None if per_minute is None else _MINUTE / per_minute
        self._began: deque[datetime] = deque()
        self._clock = clock
        self._next: datetime = clock()
        if last is not None and self._distance is not None:
            # The clock of another host may be ahead.
            self._next = min(datetime.fromisoformat(last), self._next) + self._distance

    def allowed(self, most: int) -> int:
        """Number of phones that may be started now, at most ``most``."""
        if self._distance is None:
            return most
        now = self._clock()
        self._next = max(self._next, now - _LAG)
        while self._began and self._began[0] <= now - _MINUTE:
            self._began.popleft()
        late = now - self._next
        room = min(most, self._most - len(self._began))
        return 0 if late < timedelta() else min(room, late // self._distance + 1)

    def began(self, count: int) -> datetime:
        """Count phones that are started now; the time."""
        now = self._clock()
        if self._distance is not None:
            self._next += count * self._distance
            self._began.extend([now] * count)
        return now

    def spared(self, at: datetime) -> None:
        """A phone that was counted at this time was not started: it was busy or stays unchanged.
        Another phone may be started instead."""
        if self._distance is not None:
            self._next -= self._distance
            if at in self._began:
                self._began.remove(at)

    def seconds(self, most: float) -> float:
        """Seconds until the next phone may be started, at most ``most``. Returns ``most`` if a
        phone may be started now, because the pace is not the reason for the wait."""
        if self._distance is None or self.allowed(1):
            return most
        then = self._next
        if len(self._began) >= self._most:
            then = max(then, self._began[0] + _MINUTE)
        return min(most, max(0.0, (then - self._clock()).total_seconds()))


def too_many_failures(share: int | None, counts: Counts) -> bool:
    """Whether the share of phones that failed, or that are unknown, reached this percentage."""
    if share is None or counts.ended < JUDGED_FROM:
        return False
    return (counts.failed + counts.unknown) * 100 >= share * counts.ended


def stopped_because(counts: Counts) -> str:
    """Why a batch was stopped, in a sentence."""
    unknown = f", {counts.unknown} are unknown" if counts.unknown else ""
    return (
        f"{counts.failed} of the {counts.ended} processed phones failed{unknown}; "
        "correct the cause and start another batch for the rest."
    )


def waited_long_enough(batch: Batch, waiting_since: str, clock: Clock) -> bool:
    """Whether a phone that was first found busy at that time is given up."""
    patience = timedelta(minutes=batch.wait_minutes)
    return waiting_since <= timestamp(clock() - patience)


@dataclass(eq=False)
class LoadFaults:
    """Finds missing firmware loads of a batch; ``check`` is None without a folder of files."""

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
        """The first fault among these phones. A phone that will not be switched has no fault."""
        for one in phones:
            try:
                async with database.read() as tx:
                    phone = await tx.phones.find(one.mac)
                    if phone is None or not phone.is_active:
                        continue
                    order, old, _ = await switch_of(
                        tx, deploy.records, phone, batch, one.profile_uuid
                    )
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
    tx: BatchesTransaction,
    records: Records,
    phone: Phone,
    wanted: CreateBatch | Batch,
    profile_uuid: str | None,
) -> tuple[DeploymentRequest, Rendered | None, Deployment | None]:
    """The order of a phone of a batch, the text of the file that is certainly in place, and its
    deployment. Raises ``NotFound``, ``NoTemplateFits``, ``NotRestorable``."""
    order = await order_of_phone(tx, records, phone, wanted, profile_uuid)
    in_place = await tx.deployments.in_place(phone.mac)
    return order, await deployed_text(tx, in_place) if in_place else None, in_place


async def order_of_phone(
    tx: BatchesTransaction,
    records: Records,
    phone: Phone,
    wanted: CreateBatch | Batch,
    profile_uuid: str | None,
) -> DeploymentRequest:
    """The order of a phone of a batch: what was on it at the moment of the batch; else a profile,
    by default the profile of the batch, then the phone's current profile. Raises like
    ``switch_of``."""
    if wanted.as_of is not None:
        return await order_as_of(tx, records, phone, wanted.as_of, wanted.location)
    profile_uuid = profile_uuid or wanted.profile_uuid
    if profile_uuid is None:
        current = await current_of(tx.deployments, phone)
        if current is None:
            raise NotFound("No deployment of this phone is recorded; switch it to a profile first.")
        profile_uuid = current.profile_uuid
    profile = await tx.profiles.find(profile_uuid)
    order = None
    if profile is not None:
        order = await load_order(tx, Action.SWITCH, profile, phone, wanted.revision)
    if order is None:
        raise NotFound("The profile was deleted.")
    return order
