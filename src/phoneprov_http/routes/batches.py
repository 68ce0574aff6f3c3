"""Switching or restarting many phones."""

from __future__ import annotations

from litestar import delete, get, post
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.batches.model import Batch, BatchPhone, NewBatch, WantedPhones
from phoneprov_core.batches.use_cases import Batches
from phoneprov_http.describe import described
from phoneprov_http.replies import done, listed
from phoneprov_http.requests import AnyRequest, Requests, filters, page
from phoneprov_http.routes.router import Router


def batch_routes(requests: Requests, batches: Batches) -> Router:
    """``/batches``."""

    @get(
        "/",
        opt=described(
            "List batches", "2 batch(s) found", reply=list[Batch], listed=True, errors=(403,)
        ),
    )
    async def all_batches(request: AnyRequest) -> ASGIResponse:
        """Every batch, oldest first, with how many of its phones stand where."""
        actor = await requests.caller(request)
        return await listed(await batches.all(actor, page(request)), "batch")

    @get(
        "/{uuid:str}",
        opt=described("Read a batch", "Batch found", reply=Batch, errors=(403, 404)),
    )
    async def get_batch(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One batch: its state, and how many of its phones stand where now. It is over when it
        has an `ended_at`."""
        actor = await requests.caller(request)
        return done("Batch found", await batches.get(actor, uuid))

    @get(
        "/{uuid:str}/phones",
        opt=described(
            "List the phones of a batch",
            "2 phone(s) found",
            reply=list[BatchPhone],
            listed=True,
            filters=WantedPhones,
            errors=(403, 404),
        ),
    )
    async def phones_of_batch(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Its phones in their order: what became of each, the record of its switch, why it
        failed. `state` leaves those that stand there."""
        actor = await requests.caller(request)
        wanted = filters(request, WantedPhones)
        return await listed(await batches.phones(actor, uuid, wanted, page(request)), "phone")

    @post(
        "/",
        status_code=202,
        opt=described(
            "Switch or restart many phones",
            "Batch started",
            body=NewBatch,
            example={
                "action": "switch",
                "profile_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11",
                "location": "2nd floor",
                "at_once": 5,
                "per_minute": 30,
            },
            reply=Batch,
            status=202,
            errors=(403, 404),
            conflicts=("no_phones",),
        ),
    )
    async def start_batch(request: AnyRequest) -> ASGIResponse:
        """Answers at once; the work goes on in the background, also when this service is
        restarted meanwhile. Phones are listed in `macs`, or chosen by `model`, `location` and
        `software_type`. A switch without `profile_uuid` brings each phone the newest revision of
        the profile that is on it."""
        actor = await requests.caller(request)
        batch = await batches.start(actor, await requests.sent(request, NewBatch))
        return done("Batch started", batch, status=202)

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Cancel a batch", "Batch cancelled", reply=Batch, errors=(403, 404)),
    )
    async def cancel_batch(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Begin no further phone; those that were begun are brought to their end. The batch
        stays as a record. One that runs no more is left as it is."""
        return done("Batch cancelled", await batches.cancel(await requests.caller(request), uuid))

    return Router(
        "/batches",
        route_handlers=[all_batches, get_batch, phones_of_batch, start_batch, cancel_batch],
        tags=["Batches"],
    )
