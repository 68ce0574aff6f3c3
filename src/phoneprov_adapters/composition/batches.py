"""Batches and their plans."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

from phoneprov_adapters.composition.adapters import (
    Adapters,
    background,
    calls,
    clock,
    database,
    driver,
    new_id,
    pause,
    renderer,
    setting,
)
from phoneprov_adapters.composition.desks import DesksContainer
from phoneprov_adapters.composition.plugins import Periodic, of, singleton
from phoneprov_adapters.composition.serving import ServingContainer
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.runtime.tasks import log_batch, process_batches
from phoneprov_core.features.batches.lists import ReadPhoneList
from phoneprov_core.features.batches.plan import PlanBatch, PlanTemplate
from phoneprov_core.features.batches.run import RunBatches
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.batches.work import PhoneWork


def batch_worker_of(batches: RunBatches) -> Callable[[], Coroutine[Any, Any, None]]:
    """What processes open batches, each time it is called."""
    return partial(process_batches, batches)


class BatchesContainer(DesksContainer):
    """Batches and their plans."""

    # fmt: off
    phone_work = singleton(
        PhoneWork, database=database, deploy=of(SwitchingContainer.deploy),
        occupancy=of(DesksContainer.occupancy), driver=driver, calls=calls,
        run_to_end=of(Adapters.tasks, lambda it: it.run), clock=clock, new_id=new_id,
        loads=of(ServingContainer.check_load))
    run_batches = singleton(
        RunBatches, database=database, work=of(phone_work), run_to_end=of(Adapters.tasks,
        lambda it: it.run), pause=pause, journal=log_batch, clock=clock, new_id=new_id,
        level_rule=of(Adapters.level_rule))
    batch_worker = singleton(batch_worker_of, batches=of(run_batches))
    batches = singleton(
        Batches, database=database, run=of(batch_worker), background=background,
        clock=clock, new_id=new_id)
    plan_batch = singleton(
        PlanBatch, database=database, deploy=of(SwitchingContainer.deploy),
        compare=of(Adapters.compare),
        loads=of(ServingContainer.check_load))
    read_phone_list = singleton(ReadPhoneList, database=database)
    plan_template = singleton(
        PlanTemplate, database=database, plan=of(plan_batch), renderer=renderer,
        largest_xml=setting(lambda it: it.cnf_xml_max))
    # fmt: on


LOOK_SECONDS = 5.0
"""Seconds between two searches for open batches that no worker holds."""


def repeated(container: BatchesContainer) -> Iterator[Periodic]:
    """Continue the batches that a process left open, and start planned ones."""

    async def look() -> None:
        container.tasks().start(container.batch_worker()())

    yield Periodic(look, LOOK_SECONDS)
