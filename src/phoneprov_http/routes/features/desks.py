"""Desks (default profiles and logged-in users of phones), and labels to print."""

from io import BytesIO
from typing import Annotated, cast

from phoneprov_core.features.desks.model import Desk, DeskLabel, DeskPatch, NotLoggedIn
from phoneprov_core.features.desks.records import DeskChanged
from phoneprov_core.features.desks.use_cases import Desks, NotALine
from phoneprov_core.features.transfer.configurations import ListedDeskRow, listed_row
from phoneprov_core.inventory.phones.model import SummarySearch
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.ports import Listing
from phoneprov_core.people.vendor_users import GuessLock
from phoneprov_core.switching.errors import OF_A_SWITCH, ProfileDoesNotFit
from phoneprov_http.envelope import ROWS, Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Mac, Query, Routes, people


class PrintedLabel(DeskLabel, frozen=True):
    """A label with its QR code."""

    qr_svg: Annotated[
        str,
        schema(
            "The MAC address as a QR code, an SVG drawing",
            examples=['<svg viewBox="0 0 29 29"><path d="M4 4.5h7"/></svg>'],
        ),
    ]


def desk_routes(desks: Desks) -> Routes:
    """``/desks``, and the desk of ``/phones/{mac}``."""
    routes = Routes("Desks")

    @routes.get("/desks", raises=[Forbidden], opt={ROWS: ListedDeskRow})
    async def all_desks(request: ApiRequest, wanted: Query[SummarySearch]) -> Listed[Desk]:
        """List desks. The desk of every phone, the oldest phone first. Callers without level 0 see
        the desks where they are logged in; helpdesks see the desks in their scope. The CSV can be
        imported as desks."""
        found = await desks.listed(request.user, request.page, wanted)
        if request.wants_table:
            return listed(cast("Listing[Desk]", found.mapped(listed_row)), "desk")
        return listed(found.mapped(lambda one: one.desk), "desk")

    @routes.get("/phones/{mac:str}/desk")
    async def get_desk(request: ApiRequest, mac: Mac) -> Envelope[Desk]:
        """Read a desk. The default profile and the logged-in user of a phone. Callers without
        level 0 see a desk while they are logged in at it; helpdesks see the desks in their
        scope."""
        return record("Desk found", await desks.get(request.user, mac))

    @routes.put("/phones/{mac:str}/desk", guards=[people], raises=[ProfileDoesNotFit, NotALine])
    async def update_desk(request: ApiRequest, mac: Mac, data: Body[DeskPatch]) -> Envelope[Desk]:
        """Configure a desk. Change the default profile and the number of the desk (null for
        none), and whether users can log in. The phone keeps its configuration until the next
        logout, and its lines until its next restart. Also opens the lock that follows wrong PINs
        on the phone. A request without fields only opens the lock; a helpdesk may send it for
        phones in its scope."""
        return record("Desk updated", await desks.update(request.user, mac, data))

    @routes.get("/phones/{mac:str}/desk/lock", guards=[people])
    async def get_desk_lock(request: ApiRequest, mac: Mac) -> Envelope[GuessLock]:
        """Read the lock of a desk. Whether wrong PINs locked the phone. `PUT .../desk` without
        fields opens the lock."""
        return record("Desk lock found", await desks.lock(request.user, mac))

    @routes.get("/phones/{mac:str}/label", guards=[people])
    async def get_label(request: ApiRequest, mac: Mac) -> Envelope[PrintedLabel]:
        """Read the label of a phone. Name, number and MAC address to print, and the MAC address as
        a QR code."""
        import segno  # noqa: PLC0415  # Labels alone need it.

        label = await desks.label(request.user, mac)
        code = BytesIO()
        segno.make_qr(label.mac, error="m").save(code, "svg", xmldecl=False, omitsize=True)
        return record(
            "Label found", record_of(PrintedLabel, label, qr_svg=code.getvalue().decode())
        )

    @routes.post(
        "/phones/{mac:str}/desk/logout",
        status_code=200,
        raises=[*OF_A_SWITCH, NotLoggedIn, DeskChanged],
    )
    async def log_out_desk(request: ApiRequest, mac: Mac) -> Envelope[Desk]:
        """Log out the user of a desk. Deploy the default profile of the phone, and end the login. A
        phone in a call restarts after the call. Allowed for level 0, the logged-in user, and
        helpdesks with the phone in their scope."""
        return record("Desk logged out", await desks.log_out(request.user, mac))

    return routes
