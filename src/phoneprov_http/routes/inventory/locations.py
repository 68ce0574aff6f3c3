"""Locations. Every account reads them, level 0 writes them."""

from phoneprov_core.inventory.locations import CreateLocation, Location, LocationPatch, Locations
from phoneprov_core.kernel.errors import AlreadyExists
from phoneprov_http.envelope import Envelope, Listed, Shown, listed, read_after, record, shown_on
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, Uuid, level_0


def location_routes(locations: Locations) -> Routes:
    """``/locations``."""
    routes = Routes("Locations", writing=level_0)

    @routes.get("/locations")
    async def all_locations(request: ApiRequest) -> Listed[Location]:
        """List locations. All of them, oldest first."""
        return listed(await locations.all(request.user, request.page), "location")

    @routes.get("/locations/{uuid:str}")
    async def get_location(request: ApiRequest, uuid: Uuid) -> Envelope[Location]:
        """Read a location."""
        return record("Location found", await locations.get(request.user, uuid))

    @routes.post("/locations", raises=[AlreadyExists])
    async def create_location(request: ApiRequest, data: Body[CreateLocation]) -> Shown[Location]:
        """Create a location. No phone is restarted: `metadata.phones` are phones that get the
        values of the location at their next registration."""
        made = await locations.create(request.user, data)
        phones = await read_after(locations.showing(request.user, None, made))
        return shown_on(phones, "Location created", made)

    @routes.put("/locations/{uuid:str}", raises=[AlreadyExists])
    async def update_location(
        request: ApiRequest, uuid: Uuid, data: Body[LocationPatch]
    ) -> Shown[Location]:
        """Update a location. Change the fields that are sent; null clears a field. No phone is
        restarted: `metadata.phones` are phones that have other values after their next
        registration."""
        before, after = await locations.update(request.user, uuid, data)
        phones = await read_after(locations.showing(request.user, before, after))
        return shown_on(phones, "Location updated", after)

    @routes.delete("/locations/{uuid:str}")
    async def delete_location(request: ApiRequest, uuid: Uuid) -> Shown[None]:
        """Delete a location. Phones keep their location, a text. No phone is restarted:
        `metadata.phones` are phones that have other values after their next registration."""
        deleted = await locations.delete(request.user, uuid)
        phones = await read_after(locations.showing(request.user, deleted, None))
        return shown_on(phones, "Location deleted", None)

    return routes
