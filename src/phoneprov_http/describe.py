"""What a route says of itself, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Endpoint(Struct, frozen=True):
    """One operation: its title, what it takes and answers, and how it can fail.

    ``reply`` is the type of ``data``; ``message`` an example of the message. ``errors`` are
    the statuses beyond those that follow from the rest: 401 for whoever needs a token, 400,
    413, 415 and 422 for whoever sends a body, 422 for a list, 503 for all.
    """

    summary: str
    message: str
    reply: Any = None
    status: int = 200
    body: type[Struct] | None = None
    body_optional: bool = False
    listed: bool = False
    errors: tuple[int, ...] = ()
    public: bool = False
    metadata: bool = True


def described(summary: str, message: str, **more: Any) -> dict[str, Endpoint]:
    """The ``opt`` of a route handler; ``more`` are the other fields of ``Endpoint``."""
    return {"endpoint": Endpoint(summary, message, **more)}
