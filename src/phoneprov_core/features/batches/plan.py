"""The plan of a batch: phones in groups of equal differences."""

import asyncio
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.batches.changes import (
    MOST_GROUPS,
    MOST_NAMED,
    Differences,
    Group,
    Reasons,
)
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import MOST_FIRST, BatchAction
from phoneprov_core.features.batches.ports import BatchesTransaction, NoPhones
from phoneprov_core.features.batches.results import is_unchanged, runs
from phoneprov_core.features.batches.rules import LoadFaults, reported_load, switch_of
from phoneprov_core.features.batches.use_cases import require_future, require_known, selected
from phoneprov_core.features.history.use_cases import notes_on
from phoneprov_core.features.serving.bootstrap import CheckLoad
from phoneprov_core.features.templates.model import PlanText, Template
from phoneprov_core.features.templates.recipes import Recipe
from phoneprov_core.features.templates.use_cases import Renderer, require_good
from phoneprov_core.inventory.configuration.comparison import Compare
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import Conflict, NotFound, require
from phoneprov_core.kernel.fields import SECRET, Redacted, StoredMac, schema
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.order import DeploymentRequest, require_fitting
from phoneprov_core.switching.deployments.ports import Rendered
from phoneprov_core.switching.errors import PhoneInactive

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
    """Phones that the batch would not switch, or not exactly, for the same reason."""

    count: Annotated[int, schema("Number of phones", minimum=1, examples=[2])]
    macs: Annotated[
        tuple[StoredMac, ...], schema(f"The first {MOST_NAMED} of them", maxItems=MOST_NAMED)
    ]
    message: Annotated[str, schema("Reason")]


class PlannedFirst(Struct, frozen=True):
    """One of the phones that are switched first."""

    mac: StoredMac
    outcome: Annotated[
        Literal["changed", "unchanged", "unfit"],
        schema("How the phone is counted; one that is not switched proves nothing for the others"),
    ]


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
    notes: Annotated[
        tuple[PlanProblem, ...],
        schema(
            "With `as_of`: what would differ from that moment on phones that get their file back, "
            "most first",
            maxItems=MOST_GROUPS + 1,
        ),
    ] = ()
    first: Annotated[
        tuple[PlannedFirst, ...],
        schema("The phones that are switched first, in their order", maxItems=MOST_FIRST),
    ] = ()


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
        return await _planned(self, new)


async def _planned(plan: PlanBatch, new: CreateBatch, instead: Template | None = None) -> Plan:
    """The plan. With ``instead``, only of the phones that get this variant of a template, rendered
    with its text instead of the stored text."""
    run = _Planning(plan, new, LoadFaults(plan.loads), Differences(plan.compare), instead)
    require_future(new, plan.deploy.records.clock)
    async with plan.database.read() as tx:
        await require_known(tx, new)
    now = timestamp(plan.deploy.records.clock())
    async for piece in selected(plan.database.read, new, now):
        for target in piece:
            await run.look_at(*target)
            await asyncio.sleep(PAUSE_SECONDS)
    return run.result()


@dataclass(frozen=True)
class PlanTemplate:
    """Finds the phones whose file would change with the stored or an unsaved text of a variant of a
    template. Requires level 0; changes nothing."""

    database: ReadAndWrite[BatchesTransaction]
    plan: PlanBatch
    renderer: Renderer
    _: KW_ONLY
    largest_xml: int = LARGEST

    async def __call__(self, actor: Actor, uuid: str, wanted: PlanText) -> Plan:
        """The phones whose file in place was rendered from the template, and that get this variant
        now. Raises ``NotFound``; ``Invalid`` for a text with findings; ``NoPhones``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            template = require(await tx.templates.find(known_id(uuid)), "template")
        if wanted.body is not None:
            await require_good(self.renderer, wanted.body, self.largest_xml)
            template = replace(template, body=wanted.body)
        try:
            new = CreateBatch(action="switch", template=template.name)
            return await _planned(self.plan, new, template)
        except NoPhones:
            raise NoPhones("No phone has a configuration from this template.") from None


class _OtherVariant(Exception):
    """The phone does not get the variant that is planned."""


@dataclass(eq=False)
class _Planning:
    plan: PlanBatch
    new: CreateBatch
    loads: LoadFaults
    differences: Differences
    instead: Template | None
    unfit: Reasons = field(default_factory=Reasons)
    notes: Reasons = field(default_factory=Reasons)
    phones: int = 0
    unchanged: int = 0
    changed: int = 0
    first: list[PlannedFirst] = field(default_factory=list)

    async def look_at(self, mac: str, profile_uuid: str | None) -> None:
        """Count one phone."""
        outcome: Literal["changed", "unchanged", "unfit"] = "unfit"
        self.phones += 1
        try:
            outcome = "changed" if await self._differs(mac, profile_uuid) else "unchanged"
        except _OtherVariant:
            self.phones -= 1
            return
        except (Conflict, NotFound) as error:
            self.unfit.add(mac, error.message)
        if len(self.first) < self.new.number_first:
            self.first.append(PlannedFirst(mac, outcome))

    async def _differs(self, mac: str, profile_uuid: str | None) -> bool:
        """Whether the phone would change. Raises ``Conflict`` and ``NotFound`` if it is unfit, and
        ``_OtherVariant``."""
        old: Rendered | None = Rendered("")
        order, new, reported = None, Rendered(""), None
        async with self.plan.database.read() as tx:
            phone = await tx.phones.find(mac)
            if phone is None:
                raise NotFound("The phone is no longer in the inventory.")
            if self.new.action == BatchAction.SWITCH.value:
                records = self.plan.deploy.records
                order, old, in_place = await switch_of(tx, records, phone, self.new, profile_uuid)
                order = self._with_text(order)
                reported = await reported_load(tx, phone)
            elif phone.is_active:
                in_place = await tx.deployments.in_place(mac)
            else:
                raise PhoneInactive
        if order is not None:
            require_fitting(order.profile, phone)
            order = await self.plan.deploy.texts(order)
            fault = await self.loads.of(order.cnf_xml, old, reported)
            if fault is not None:
                raise Conflict(f"{fault} The batch would start no phone.")
            new = order.source.rendered if order.source else Rendered(order.cnf_xml)
        clock = self.plan.deploy.records.clock
        is_known = runs(in_place, clock)
        has_it = is_known if order is None else is_unchanged(in_place, order, clock)
        if has_it:
            self.unchanged += 1
            return False
        if order is not None and self.new.as_of is not None:
            records = self.plan.deploy.records
            async with self.plan.database.read() as tx:
                await records.require_allowed(tx, order)
                for note in await notes_on(tx, phone, order, timestamp(clock())):
                    self.notes.add(mac, note)
        self.changed += 1
        await self.differences.add(phone, old, new, is_known=is_known)
        return True

    def _with_text(self, order: DeploymentRequest) -> DeploymentRequest:
        recipe = order.part(Recipe)
        if self.instead is None:
            return order
        if recipe is None or recipe.template.uuid != self.instead.uuid:
            raise _OtherVariant
        return order.having(replace(recipe, template=self.instead))

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
            _shown(problems),
            _shown(self.notes.most_first()),
            tuple(self.first),
        )


def _shown(reasons: list[Group]) -> tuple[PlanProblem, ...]:
    return tuple(PlanProblem(one.count, tuple(one.macs), one.what) for one in reasons)
