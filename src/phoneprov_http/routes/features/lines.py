"""Lines of phones, for level 0 and helpdesks; emergency drills, for level 0; users and phones of
numbers, for every account within its rights."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from phoneprov_core.features.lines.drills import Drill, Drills
from phoneprov_core.features.lines.model import Line
from phoneprov_core.features.lines.numbers import FindQuery, Found, Numbered, Numbers, NumbersOf
from phoneprov_core.features.lines.use_cases import Lines
from phoneprov_core.inventory.locations import EmergencyNumber, EmergencyPlace
from phoneprov_core.kernel.ports import Listing, Newest
from phoneprov_http.envelope import BareList, Envelope, Listed, ListMetadata, listed, record
from phoneprov_http.routes.handlers import (
    READS,
    ApiRequest,
    Body,
    Mac,
    Query,
    Routes,
    level_0,
    people,
)


class LinesMetadata(ListMetadata, frozen=True):
    """Number and place that an emergency call from the phone presents, by the phone's location, and
    the page of the list. A value is absent if no location has it, or if the number of a SIP phone
    is on several phones."""

    emergency_number: EmergencyNumber | UnsetType = UNSET
    emergency_place: EmergencyPlace | UnsetType = UNSET


class LinesList(BareList[Line]):
    """A response with the lines of a phone."""

    metadata: LinesMetadata


def line_routes(lines: Lines, drills: Drills, numbers: Numbers) -> Routes:
    """The lines and drills of ``/phones/{mac}``, ``/numbers`` and ``/search``."""
    routes = Routes("Lines")

    @routes.get("/phones/{mac:str}/lines", guards=[people])
    async def lines_of_phone(request: ApiRequest, mac: Mac) -> LinesList:
        """List the lines of a phone. The lines that Asterisk gets for the phone, in the order of
        the buttons: the lines of the logged-in user, else the number of the desk, else the lines of
        the owner of the deployed profile. The phone shows them after its next restart. `metadata`
        has the number and the place that an emergency call from the phone presents."""
        found, emergency = await lines.of_phone(request.user, mac, request.page)
        list_ = listed(found, "line")
        metadata = LinesMetadata(
            **asdict(list_.metadata),
            emergency_number=emergency.number or UNSET,
            emergency_place=emergency.place or UNSET,
        )
        return LinesList(list_.success, list_.message, list_.data, metadata)

    @routes.get("/phones/{mac:str}/drills", guards=[level_0])
    async def drills_of_phone(
        request: ApiRequest, mac: Mac, wanted: Query[Newest]
    ) -> Listed[Drill]:
        """List a phone's drills. The number and place that emergency calls from the phone would
        have presented, as the exchange answered `phoneprov drill`. Newest first, at most 1000 rows;
        `before` with the last row continues the list."""
        rows = await drills.newest(request.user, mac, wanted.limit, before=wanted.before)
        return listed(Listing(rows), "drill")

    @routes.post("/numbers", status_code=200, opt=READS)
    async def numbers_of(request: ApiRequest, data: Body[NumbersOf]) -> Listed[Numbered]:
        """Read people and numbers of records. The people and numbers of each record in the request,
        in the same order. Changes nothing. Omits records that do not exist or that the caller may
        not see: for helpdesks, phones outside their scope; for other callers without level 0,
        everything except their own records."""
        return listed(Listing(await numbers.of(request.user, data)), "record")

    @routes.get("/search")
    async def find_people_and_phones(
        request: ApiRequest, wanted: Query[FindQuery]
    ) -> Envelope[Found]:
        """Search people and phones. By parts of names, addresses and numbers, like the search of
        lists. For a number, its users and their phones are first. For helpdesks, the phones are
        those in their scope; other callers without level 0 find only phones, by fields that every
        account may read."""
        return record("Search done", await numbers.find(request.user, wanted))

    return routes
