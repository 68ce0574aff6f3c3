"""Liveness and readiness checks, without a token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from litestar import Router, get

from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.envelope import Done, done
from phoneprov_http.middleware.authentication import PUBLIC


def health_routes(ready: Callable[[], Awaitable[str | None]]) -> Router:
    """``/health``."""

    @get("/live", summary="Liveness check")
    async def live() -> Done:
        """The process responds."""
        return done("Alive")

    @get("/ready", summary="Readiness check")
    async def is_ready() -> Done:
        """The database is reachable, and its schema is that of this version."""
        reason = await ready()
        if reason is not None:
            raise Unavailable(reason)
        return done("Ready")

    return Router("/health", route_handlers=[live, is_ready], opt=PUBLIC, tags=["Health"])
