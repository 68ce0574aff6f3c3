"""States of phones now and in the past, adoption and replacement; level 0. Helpdesks read states
and numbers."""

from phoneprov_core.features.fleet.model import (
    AdoptPhone,
    AlreadyReplaced,
    PlacedPhone,
    ReplacePhone,
    SeveralAddresses,
)
from phoneprov_core.features.fleet.status import PhoneStatus
from phoneprov_core.features.fleet.use_cases import ChangeFleet, Fleet, FleetQuery, ViewFleet
from phoneprov_core.features.history.model import HistoryQuery, PastPhone
from phoneprov_core.features.history.use_cases import History
from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.kernel.errors import AlreadyExists
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Mac, Query, Routes, level_0, people

_AS_SEEN = AdoptPhone()


def fleet_routes(view: ViewFleet, change: ChangeFleet, history: History) -> Routes:
    """``/fleet``, ``/history/phones``, ``/phones/{mac}/state`` and ``/replace``,
    ``/discovered-phones/{mac}/adopt``."""
    routes = Routes("Fleet", writing=level_0)

    @routes.get("/fleet", guards=[people])
    async def get_fleet(request: ApiRequest, wanted: Query[FleetQuery]) -> Envelope[Fleet]:
        """Read the numbers of the fleet. Active phones by state, last outcome, model and load, and
        deployments by day."""
        return record("Fleet found", await view.numbers(request.user, wanted))

    @routes.get("/phones/{mac:str}/state", guards=[people])
    async def phone_state(request: ApiRequest, mac: Mac) -> Envelope[PhoneStatus]:
        """Read the state of a phone. The last observed state, with the next step."""
        return record("Phone state found", await view.state(request.user, mac))

    @routes.get("/history/phones", guards=[level_0])
    async def phones_then(request: ApiRequest, wanted: Query[HistoryQuery]) -> Listed[PastPhone]:
        """List the phones of an earlier moment. In the order of MACs: profile, logged-in user,
        lines and state of each phone. `after` with the last MAC continues the list."""
        return listed(await history.phones(request.user, wanted, request.page), "phone")

    @routes.post("/discovered-phones/{mac:str}/adopt", raises=[AlreadyExists, SeveralAddresses])
    async def adopt_phone(
        request: ApiRequest, mac: Mac, data: Body[AdoptPhone] = _AS_SEEN
    ) -> Envelope[PlacedPhone]:
        """Adopt a discovered phone. Creates the phone with its address and model, and requests the
        MAC address from the phone. A profile in the request becomes the default profile."""
        return record("Phone adopted", await change.adopt(request.user, mac, data))

    @routes.post(
        "/phones/{mac:str}/replace",
        raises=[AlreadyExists, PhoneBusy, AlreadyReplaced, SeveralAddresses],
    )
    async def replace_phone(
        request: ApiRequest, mac: Mac, data: Body[ReplacePhone]
    ) -> Envelope[PlacedPhone]:
        """Replace a phone. The new phone gets name, location, vendor flag, modules and desk of the
        old phone, which becomes inactive. Both phones show the same history."""
        return record("Phone replaced", await change.replace(request.user, mac, data))

    return routes
