"""Batches: switching or restarting many phones; level 0."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar import Router
from litestar.params import JSONBody, QueryParameter

from phoneprov_core.batches.commands import NewBatch, WantedPhones
from phoneprov_core.batches.model import Batch, BatchPhone
from phoneprov_core.batches.use_cases import Batches
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.openapi.document import EXAMPLE
from phoneprov_http.routes.handlers import delete, get, post
from phoneprov_http.routes.parameters import ApiRequest, Before, Limit, Offset, Uuid, page

State = Annotated[
    Literal["waiting", "running", "done", "failed", "left_out"] | None,
    QueryParameter(name="state", description="Only phones in this state"),
]
After = Annotated[
    int | None,
    QueryParameter(
        description=(
            "Begin after the phone at this position, without a total; 0 begins with the first. Not "
            "allowed with `offset`"
        ),
        ge=0,
        le=2**31 - 1,
        schema_extra={"minimum": 0},
    ),
]


def batch_routes(batches: Batches) -> Router:
    """``/batches``."""

    @get("/", summary="List batches", responses=failures(404))
    async def all_batches(
        request: ApiRequest, limit: Limit = None, offset: Offset = None, before: Before = None
    ) -> Listed[Batch]:
        """All batches, oldest first, with the number of phones per state."""
        return listed(await batches.all(request.user, page(limit, offset), before), "batch")

    @get("/{uuid:str}", summary="Read a batch", responses=failures(404))
    async def get_batch(request: ApiRequest, uuid: Uuid) -> Envelope[Batch]:
        """One batch: its state, and the current number of phones per state. A batch with an
        `ended_at` has ended."""
        return record("Batch found", await batches.get(request.user, uuid))

    @get("/{uuid:str}/phones", summary="List the phones of a batch", responses=failures(404))
    async def phones_of_batch(
        request: ApiRequest,
        uuid: Uuid,
        limit: Limit = None,
        offset: Offset = None,
        in_state: State = None,
        after: After = None,
    ) -> Listed[BatchPhone]:
        """The phones of a batch in their order: the state of each, the record of its switch, and
        the reason of a failure."""
        wanted = WantedPhones(state=in_state, after=after)
        return listed(
            await batches.phones(request.user, uuid, wanted, page(limit, offset)), "phone"
        )

    @post(
        "/",
        status_code=202,
        summary="Start a batch",
        responses=failures(404, conflicts=["no_phones"]),
        opt={
            EXAMPLE: {
                "action": "switch",
                "profile_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11",
                "location": "2nd floor",
                "at_once": 5,
                "per_minute": 30,
            }
        },
    )
    async def start_batch(request: ApiRequest, data: JSONBody[NewBatch]) -> Envelope[Batch]:
        """Responds at once; the batch runs in the background and is resumed after a restart of
        the service. `macs` lists the phones, or `model`, `location` and `software_type` select
        them. A switch without `profile_uuid` uploads the newest revision of the profile that is
        on each phone."""
        return record("Batch started", await batches.start(request.user, data))

    @delete("/{uuid:str}", summary="Cancel a batch", responses=failures(404))
    async def cancel_batch(request: ApiRequest, uuid: Uuid) -> Envelope[Batch]:
        """Start no further phone. Running phones finish. The batch stays as a record; a batch
        that has ended is not changed."""
        return record("Batch cancelled", await batches.cancel(request.user, uuid))

    return Router(
        "/batches",
        route_handlers=[all_batches, get_batch, phones_of_batch, start_batch, cancel_batch],
        guards=[level_0],
        tags=["Batches"],
    )
