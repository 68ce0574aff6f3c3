"""Liveness and readiness checks."""

from collections.abc import Awaitable, Callable

from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.envelope import Done, done
from phoneprov_http.routes.handlers import PUBLIC, Routes


def health_routes(ready: Callable[[], Awaitable[str | None]]) -> Routes:
    """``/health``."""
    routes = Routes("Health", "/health", opt=PUBLIC)

    @routes.get("/live")
    async def live() -> Done:
        """Liveness check. The process responds."""
        return done("Alive")

    @routes.get("/ready")
    async def is_ready() -> Done:
        """Readiness check. The database is reachable, its schema is that of this version, and it
        stores changes."""
        reason = await ready()
        if reason is not None:
            raise Unavailable(reason)
        return done("Ready")

    return routes
