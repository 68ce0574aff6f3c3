"""Requests of phones for files, and phones that are not in the inventory."""

from phoneprov_core.features.serving.model import DiscoveredPhone, Fetch
from phoneprov_core.features.serving.use_cases import DiscoveredPhones, Fetches
from phoneprov_core.kernel.ports import Listing, Newest
from phoneprov_http.envelope import Listed, listed
from phoneprov_http.routes.handlers import ApiRequest, Mac, Query, Routes, level_0


def provisioning_routes(fetches: Fetches, discovered: DiscoveredPhones) -> Routes:
    """``/phones/{mac}/fetches`` and ``/discovered-phones``."""
    routes = Routes("Provisioning")

    @routes.get("/phones/{mac:str}/fetches")
    async def fetches_of_phone(
        request: ApiRequest, mac: Mac, wanted: Query[Newest]
    ) -> Listed[Fetch]:
        """List a phone's fetches. The requests of a phone for files, newest first, at most 1000
        rows; `before` with the last row continues the list."""
        rows = await fetches.newest(request.user, mac, wanted.limit, before=wanted.before)
        return listed(Listing(rows), "fetch")

    @routes.get("/discovered-phones", guards=[level_0])
    async def all_discovered_phones(request: ApiRequest) -> Listed[DiscoveredPhone]:
        """List discovered phones. Phones that requested their files and are not in the inventory,
        in the order of their first request. Creating a phone with the MAC address removes the
        discovered phone from this list."""
        return listed(await discovered.all(request.user, request.page), "discovered phone")

    return routes
