"""Plans: what a batch would change, in groups of phones with the same difference."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Struct

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.batches.commands import CreateBatch
from phoneprov_core.batches.groups import MOST_GROUPS, MOST_NAMED, Differences, Reasons
from phoneprov_core.batches.loads import LoadFaults, reported_load, switch_of
from phoneprov_core.batches.model import BatchAction
from phoneprov_core.batches.ports import BatchesTransaction, NoPhones
from phoneprov_core.batches.use_cases import require_future, require_known, selected
from phoneprov_core.batches.work import is_unchanged, runs
from phoneprov_core.configuration.comparison import Compare
from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.errors import PhoneInactive
from phoneprov_core.deployments.order import require_fitting
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.provisioning.loads import CheckLoad
from phoneprov_core.templates.ports import Rendered

PAUSE_SECONDS = 0.001
"""Seconds after each phone in which other requests are answered."""


class PlanGroup(Redacted, frozen=True):
    """Phones with the same difference."""

    count: Annotated[int, schema("Number of phones", minimum=1, examples=[118])]
    macs: Annotated[
        tuple[StoredMac, ...], schema(f"The first {MOST_NAMED} of them", maxItems=MOST_NAMED)
    ]
    diff: Annotated[
        str,
        SECRET,
        schema(
            "The changed lines without context, secrets masked; what differs from person to person "
            "is replaced by the name of its variable"
        ),
    ]


class PlanProblem(Struct, frozen=True):
    """Phones that the batch would not switch, for the same reason."""

    count: Annotated[int, schema("Number of phones", minimum=1, examples=[2])]
    macs: Annotated[
        tuple[StoredMac, ...], schema(f"The first {MOST_NAMED} of them", maxItems=MOST_NAMED)
    ]
    message: Annotated[str, schema("Reason")]


class Plan(Struct, frozen=True):
    """What a batch would change."""

    phones: Annotated[int, schema("All phones of the batch", minimum=1, examples=[200])]
    unchanged: Annotated[int, schema("Phones that have their configuration already")]
    changed: Annotated[int, schema("Phones that are not known to run what they would get")]
    unfit: Annotated[int, schema("Phones that would not be switched")]
    groups: Annotated[
        tuple[PlanGroup, ...],
        schema("Groups of equal differences, most first", maxItems=MOST_GROUPS + 1),
    ]
    problems: Annotated[
        tuple[PlanProblem, ...],
        schema("Why phones are unfit, most first", maxItems=MOST_GROUPS + 1),
    ]


@dataclass(frozen=True)
class PlanBatch:
    """The dry run of a batch; it requires level 0, and changes nothing. ``loads`` is None without a
    folder of files."""

    database: ReadAndWrite[BatchesTransaction]
    deploy: Deploy
    compare: Compare
    loads: CheckLoad | None = None

    async def __call__(self, actor: Actor, new: CreateBatch) -> Plan:
        """One phone at a time: memory does not grow with the number of phones. Raises like the
        start of the batch, and ``Unavailable``."""
        require_superadmin(actor)
        run = _Planning(self, new, LoadFaults(self.loads), Differences(self.compare))
        require_future(new, self.deploy.clock)
        async with self.database.read() as tx:
            await require_known(tx, new)
        async for piece in selected(self.database.read, new):
            for target in piece:
                await run.look_at(*target)
                await asyncio.sleep(PAUSE_SECONDS)
        return run.result()


@dataclass(eq=False)
class _Planning:
    plan: PlanBatch
    new: CreateBatch
    loads: LoadFaults
    differences: Differences
    unfit: Reasons = field(default_factory=Reasons)
    phones: int = 0
    unchanged: int = 0
    changed: int = 0

    async def look_at(self, mac: str, profile_uuid: str | None) -> None:
        """Count one phone."""
        self.phones += 1
        try:
            await self._compare(mac, profile_uuid or self.new.profile_uuid)
        except (Conflict, NotFound) as error:
            self.unfit.add(mac, error.message)

    async def _compare(self, mac: str, profile_uuid: str | None) -> None:
        """Raises ``Conflict`` and ``NotFound`` if the phone is unfit."""
        old: Rendered | None = Rendered("")
        order, new, reported = None, Rendered(""), None
        async with self.plan.database.read() as tx:
            phone = await tx.phones.find(mac)
            if phone is None:
                raise NotFound("The phone is no longer in the inventory.")
            if self.new.action == BatchAction.SWITCH.value:
                order, old, in_place = await switch_of(tx, phone, profile_uuid, self.new.revision)
                reported = await reported_load(tx, phone)
            elif phone.is_active:
                in_place = await tx.deployments.in_place(mac)
            else:
                raise PhoneInactive
        if order is not None:
            require_fitting(order.profile, phone)
            order = await self.plan.deploy.rendered(order)
            fault = await self.loads.of(order.cnf_xml, old, reported)
            if fault is not None:
                raise Conflict(f"{fault} The batch would start no phone.")
            new = order.source.rendered if order.source else Rendered(order.cnf_xml)
        clock = self.plan.deploy.clock
        is_known = runs(in_place, clock)
        has_it = is_known if order is None else is_unchanged(in_place, order, clock)
        if has_it:
            self.unchanged += 1
            return
        self.changed += 1
        await self.differences.add(phone, old, new, is_known=is_known)

    def result(self) -> Plan:
        """Raises ``NoPhones``."""
        if not self.phones:
            raise NoPhones
        groups, problems = self.differences.most_first(), self.unfit.most_first()
        return Plan(
            self.phones,
            self.unchanged,
            self.changed,
            sum(group.count for group in problems),
            tuple(PlanGroup(one.count, tuple(one.macs), one.what) for one in groups),
            tuple(PlanProblem(one.count, tuple(one.macs), one.what) for one in problems),
        )
