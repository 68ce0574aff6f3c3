"""Everything under ``/console``."""

from litestar import Router

from phoneprov_core.application import UseCases
from phoneprov_http.console.files import file_handlers
from phoneprov_http.console.session import session_routes
from phoneprov_http.middleware.authentication import PUBLIC


def console_routes(use_cases: UseCases) -> list[Router]:
    """``/console`` and ``/console/session``. The files are public; what they show is fetched with
    an access token."""
    files = Router("/console", route_handlers=file_handlers(), opt=PUBLIC, include_in_schema=False)
    return [files, session_routes(use_cases)]
