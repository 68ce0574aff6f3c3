"""Requests of phones for files, and phones outside the inventory."""

from __future__ import annotations

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter

from phoneprov_core.kernel.ids import UUID
from phoneprov_core.kernel.store import Listing
from phoneprov_core.provisioning.model import DiscoveredPhone, Fetch
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches
from phoneprov_http.envelope import Listed, listed
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.parameters import ApiRequest, Limit, Mac, Offset, page

MOST = 1000
"""Number of rows of a response without ``limit``."""

Before = Annotated[
    str | None,
    QueryParameter(
        description="Only requests before this one (its UUID)",
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]


def provisioning_routes(fetches: Fetches, discovered: DiscoveredPhones) -> list[Router]:
    """``/phones/{mac}/fetches`` and ``/discovered-phones``."""

    @get("/{mac:str}/fetches", summary="List a phone's fetches", responses=failures(404))
    async def fetches_of_phone(
        request: ApiRequest, mac: Mac, limit: Limit = None, before: Before = None
    ) -> Listed[Fetch]:
        """The requests of a phone for files, newest first. At most 1000 rows; `before` continues
        after the last one."""
        rows = await fetches.newest(request.user, mac, limit or MOST, before=before)
        return listed(Listing(rows), "fetch")

    @get("/", guards=[level_0], summary="List discovered phones")
    async def all_discovered_phones(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[DiscoveredPhone]:
        """Phones that asked for their files and are not in the inventory, the first seen first.
        Creating a phone with the MAC address removes it from this list."""
        return listed(await discovered.all(request.user, page(limit, offset)), "discovered phone")

    return [
        Router("/phones", route_handlers=[fetches_of_phone], tags=["Provisioning"]),
        Router("/discovered-phones", route_handlers=[all_discovered_phones], tags=["Provisioning"]),
    ]
