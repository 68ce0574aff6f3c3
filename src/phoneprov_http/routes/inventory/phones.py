"""Phone inventory. Every account reads it, level 0 writes it."""

from msgspec import UNSET

from phoneprov_core.inventory.locations import Locations
from phoneprov_core.inventory.notes import Note, Notes, WriteNote
from phoneprov_core.inventory.phones.model import (
    CountedPhones,
    CountsQuery,
    CreatePhone,
    Phone,
    PhonePatch,
    PhoneSearch,
    PhoneSummary,
    SummarySearch,
)
from phoneprov_core.inventory.phones.use_cases import PhoneBusy, Phones
from phoneprov_core.kernel.errors import AlreadyExists, Forbidden
from phoneprov_core.kernel.ports import Window
from phoneprov_http.envelope import (
    Done,
    Envelope,
    Listed,
    Shown,
    done,
    listed,
    read_after,
    record,
    shown_on,
)
from phoneprov_http.routes.handlers import (
    ApiRequest,
    Body,
    Guard,
    Mac,
    Query,
    Routes,
    level_0,
    people,
)


def phone_routes(phones: Phones, locations: Locations, notes: Notes, shared_write: Guard) -> Routes:
    """``/phones``."""
    routes = Routes("Phones", writing=shared_write)

    @routes.get("/phones", raises=[Forbidden])
    async def all_phones(request: ApiRequest, wanted: Query[PhoneSearch]) -> Listed[Phone]:
        """List phones. The phones of the inventory, oldest first."""
        return listed(await phones.all(request.user, request.page, wanted), "phone")

    @routes.get("/phones/summaries", guards=[people])
    async def phone_summaries(
        request: ApiRequest, wanted: Query[SummarySearch]
    ) -> Listed[PhoneSummary]:
        """List phones with their use. Deployed profile and logged-in user of each phone; at most
        1000 rows, as CSV all rows."""
        page = request.page or (None if request.wants_table else Window())
        return listed(await phones.summaries(request.user, page, wanted), "phone")

    @routes.get("/phones/counts")
    async def counted_phones(
        request: ApiRequest, wanted: Query[CountsQuery]
    ) -> Listed[CountedPhones]:
        """Count phones. The number of phones for each value of a field, the largest number
        first."""
        return listed(await phones.counts(request.user, wanted, request.page), "value")

    @routes.get("/phones/{mac:str}")
    async def get_phone(request: ApiRequest, mac: Mac) -> Envelope[Phone]:
        """Read a phone."""
        return record("Phone found", await phones.get(request.user, mac))

    @routes.post("/phones", raises=[AlreadyExists])
    async def create_phone(request: ApiRequest, data: Body[CreatePhone]) -> Envelope[Phone]:
        """Create a phone. Only the MAC address is required."""
        return record("Phone created", await phones.create(request.user, data))

    @routes.put("/phones/{mac:str}")
    async def update_phone(request: ApiRequest, mac: Mac, data: Body[PhonePatch]) -> Shown[Phone]:
        """Update a phone. Change the fields that are sent; null clears a field. The phone is not
        restarted: `metadata.phones` contains it if a new location changes what its emergency calls
        present after its next registration."""
        before = None if data.location is UNSET else await phones.get(request.user, mac)
        after = await phones.update(request.user, mac, data)
        moved = locations.moved(request.user, before, after) if before else None
        return shown_on(await read_after(moved), "Phone updated", after)

    @routes.delete("/phones/{mac:str}", raises=[PhoneBusy])
    async def delete_phone(request: ApiRequest, mac: Mac) -> Done:
        """Delete a phone. Also deletes its vendor flag, its desk and its served configuration, and
        disconnects its key expansion modules."""
        await phones.delete(request.user, mac)
        return done("Phone deleted")

    @routes.get("/phones/{mac:str}/note", guards=[people])
    async def get_note_on_phone(request: ApiRequest, mac: Mac) -> Envelope[Note]:
        """Read the note on a phone."""
        return record("Note found", await notes.of_phone(request.user, mac))

    @routes.put("/phones/{mac:str}/note", guards=[level_0])
    async def put_note_on_phone(
        request: ApiRequest, mac: Mac, data: Body[WriteNote]
    ) -> Envelope[Note]:
        """Write the note on a phone. Null removes the note. Searches find the note for accounts
        that may see people."""
        return record("Note saved", await notes.put_on_phone(request.user, mac, data))

    return routes
