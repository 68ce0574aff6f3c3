"""Guards: 403 for a missing level, before the body is looked at.

The use cases check the same rules once more, for callers without HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.types import Guard

from phoneprov_core.access.rules import require_superadmin

Connection = ASGIConnection[Any, Any, Any, Any]


def guard(require: Callable[[Any], None]) -> Guard:
    """A guard from a rule: ``require`` takes the caller and raises ``Forbidden``."""

    async def check(connection: Connection, _: BaseRouteHandler) -> None:
        require(connection.user)

    return check


async def level_0(connection: Connection, _: BaseRouteHandler) -> None:
    """Raises ``Forbidden`` for a caller without level 0."""
    require_superadmin(connection.user)


def writing(require: Callable[[Any], None]) -> Guard:
    """A guard of routers whose records every account reads: ``require`` is for writing alone."""

    async def check(connection: Connection, _: BaseRouteHandler) -> None:
        if connection.scope["method"] != "GET":  # type: ignore[typeddict-item]
            require(connection.user)

    vars(check)[_READING_ALLOWED] = True
    return check


_READING_ALLOWED = "reading_allowed"


def is_guarded(handler: HTTPRouteHandler) -> bool:
    """Whether a guard may refuse the requests of a handler."""
    reads = "GET" in handler.http_methods
    return any(not (reads and hasattr(one, _READING_ALLOWED)) for one in handler.resolve_guards())
