"""Switches or restarts of many phones in the background; level 0."""

from phoneprov_core.features.batches.commands import CreateBatch, WantedPhones
from phoneprov_core.features.batches.lists import PhoneList, ReadPhoneList, ReadPhones
from phoneprov_core.features.batches.model import Batch, BatchPhone, BatchState
from phoneprov_core.features.batches.plan import Plan, PlanBatch
from phoneprov_core.features.batches.ports import NoPhones
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.rehearsal.foresight import RehearseBatch
from phoneprov_core.features.rehearsal.model import Rehearsal, TooLarge
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import FromNewest
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import READS, ApiRequest, Body, Query, Routes, Uuid, level_0


def batch_routes(
    batches: Batches, plan: PlanBatch, rehearse: RehearseBatch, read_list: ReadPhoneList
) -> Routes:
    """``/batches``."""
    routes = Routes("Batches", guards=[level_0])

    @routes.get("/batches", raises=[NotFound])
    async def all_batches(request: ApiRequest, wanted: Query[FromNewest]) -> Listed[Batch]:
        """List batches. All batches, oldest first, with the number of phones per state."""
        return listed(await batches.all(request.user, request.page, wanted.before), "batch")

    @routes.get("/batches/{uuid:str}")
    async def get_batch(request: ApiRequest, uuid: Uuid) -> Envelope[Batch]:
        """Read a batch. Its state, and the current number of phones per state. A batch with an
        `ended_at` has ended."""
        return record("Batch found", await batches.get(request.user, uuid))

    @routes.get("/batches/{uuid:str}/phones")
    async def phones_of_batch(
        request: ApiRequest, uuid: Uuid, wanted: Query[WantedPhones]
    ) -> Listed[BatchPhone]:
        """List the phones of a batch. In the order of the batch: the state of each phone, the
        deployment, and the reason of a failure."""
        return listed(await batches.phones(request.user, uuid, wanted, request.page), "phone")

    @routes.post("/batches", status_code=202, raises=[NotFound, NoPhones])
    async def start_batch(request: ApiRequest, data: Body[CreateBatch]) -> Envelope[Batch]:
        """Start a batch. Responds at once; the batch runs in the background and is resumed after a
        restart of the service. `macs` or `items` list the phones, or `model`, `location`,
        `software_type` and `template` select them. A switch without `profile_uuid` uploads the
        newest revision of the profile that is on each phone. With `as_of` it restores the
        configuration that each phone had at this time. With `start_at` the batch is planned."""
        batch = await batches.start(request.user, data)
        is_planned = batch.state is BatchState.PLANNED
        return record("Batch planned" if is_planned else "Batch started", batch)

    @routes.post("/batches/plan", status_code=200, opt=READS, raises=[NotFound, NoPhones])
    async def plan_batch(request: ApiRequest, data: Body[CreateBatch]) -> Envelope[Plan]:
        """Plan a batch. Takes the body of a batch and changes nothing. Shows groups of phones with
        the same difference, the largest group first."""
        result = await plan(request.user, data)
        return record(f"{result.changed} phone(s) would change", result)

    @routes.post(
        "/batches/rehearse", status_code=200, opt=READS, raises=[NotFound, NoPhones, TooLarge]
    )
    async def rehearse_batch(request: ApiRequest, data: Body[CreateBatch]) -> Envelope[Rehearsal]:
        """Rehearse a batch. Takes the body of a batch and runs it on a copy of the records: sends
        nothing to phones and changes nothing. Shows the expected outcome, the time of the records,
        and the evidence."""
        result = await rehearse(request.user, data)
        return record(result.summary, result)

    @routes.post("/batches/list", status_code=200, opt=READS)
    async def read_phone_list(request: ApiRequest, data: Body[ReadPhones]) -> Envelope[PhoneList]:
        """Read a list of phones. Changes nothing. Returns the phones in the lines of a text, for
        `macs` or `items` of a batch, and the problem of each wrong line."""
        found = await read_list(request.user, data)
        wrong = len(found.problems)
        return record(f"{len(found.phones)} phone(s) found, {wrong} line(s) are wrong", found)

    @routes.delete("/batches/{uuid:str}")
    async def cancel_batch(request: ApiRequest, uuid: Uuid) -> Envelope[Batch]:
        """Cancel a batch. Running phones finish; no further phone starts. A planned batch can be
        cancelled, too. The batch stays as a record. A batch that has ended is not changed."""
        batch = await batches.cancel(request.user, uuid)
        return record(f"Batch {batch.state.value}", batch)

    return routes
