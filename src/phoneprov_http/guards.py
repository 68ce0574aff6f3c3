"""Guards: 403 for a missing level, before the body is looked at.

The use cases check the same rules once more, for callers without HTTP.
"""

from collections.abc import Callable
from typing import Any

from litestar import types
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from phoneprov_core.access.rules import require_superadmin

Connection = ASGIConnection[Any, Any, Any, Any]
Guard = types.Guard


def guard(require: Callable[[Any], None]) -> Guard:
    """A guard from a rule: ``require`` takes the caller and raises ``Forbidden``."""

    async def check(connection: Connection, _: BaseRouteHandler) -> None:
        """Raises ``Forbidden`` if the rule refuses the caller."""
        require(connection.user)

    check.__doc__ = require.__doc__
    return check


level_0 = guard(require_superadmin)
"""Raises ``Forbidden`` for a caller without level 0."""
