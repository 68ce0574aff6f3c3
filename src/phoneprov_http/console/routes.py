"""Everything under ``/console``."""

from __future__ import annotations

from litestar.middleware import DefineMiddleware

from phoneprov_core.application import UseCases
from phoneprov_http.bodies import Body
from phoneprov_http.console.files import file_handlers
from phoneprov_http.console.session import own_origin, session_handlers
from phoneprov_http.middleware.authentication import PUBLIC
from phoneprov_http.routes.router import Router


def console_routes(use_cases: UseCases, middleware: list[DefineMiddleware]) -> list[Router]:
    """``/console`` and ``/console/session``. The files are public; what they show is fetched with
    an access token."""
    return [
        Router("/console", route_handlers=file_handlers(), include_in_schema=False),
        Router(
            "/console/session",
            route_handlers=session_handlers(use_cases),
            guards=[own_origin],
            middleware=middleware,
            opt=PUBLIC,
            dto=Body,
            return_dto=None,
            include_in_schema=False,
        ),
    ]
