"""Lines of phones; level 0."""

from phoneprov_core.features.lines.model import Line
from phoneprov_core.features.lines.use_cases import Lines
from phoneprov_http.envelope import Listed, listed
from phoneprov_http.routes.handlers import ApiRequest, Mac, Routes, level_0


def line_routes(lines: Lines) -> Routes:
    """The lines of ``/phones/{mac}``."""
    routes = Routes("Lines", guards=[level_0])

    @routes.get("/phones/{mac:str}/lines")
    async def lines_of_phone(request: ApiRequest, mac: Mac) -> Listed[Line]:
        """List the lines of a phone. What Asterisk gets for the phone, in the order of its
        buttons: the lines of the user that is logged in, else the number of the desk, else the
        lines of the owner of the deployed profile. The phone shows them after its next restart."""
        return listed(await lines.of_phone(request.user, mac, request.page), "line")

    return routes
