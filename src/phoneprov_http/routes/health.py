"""Whether the service lives, and whether it can serve; for machines, without a token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.describe import described
from phoneprov_http.replies import done


def health_routes(ready: Callable[[], Awaitable[str | None]]) -> list[HTTPRouteHandler]:
    """``/health/live`` and ``/health/ready``."""

    @get(
        "/health/live",
        tags=["Health"],
        opt=described("Is it alive?", "Alive", public=True, stored=False),
    )
    async def live() -> ASGIResponse:
        """The process answers."""
        return done("Alive")

    @get("/health/ready", tags=["Health"], opt=described("Can it serve?", "Ready", public=True))
    async def is_ready() -> ASGIResponse:
        """The database is reachable and its schema is the one this version needs."""
        reason = await ready()
        if reason is not None:
            raise Unavailable(reason)
        return done("Ready")

    return [live, is_ready]
