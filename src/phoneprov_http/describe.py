"""What a route says of itself, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

OF_A_SWITCH = (
    "phone_inactive",
    "profile_does_not_fit",
    "phone_busy",
    "no_address",
    "address_not_allowed",
)
"""The codes of the conflicts that keep a configuration from a phone."""


class Endpoint(Struct, frozen=True):
    """One operation: its title, what it takes and answers, and how it can fail.

    ``reply`` is the type of ``data``; ``message`` an example of the message, for a list with a
    count in front. ``identifiers`` may stand in the body beside its own fields, and must agree
    with what is addressed. ``filters`` are what a query may narrow a list by; ``example`` is a
    body to show where one of all fields would make no sense. ``public`` needs no token, and
    ``heeds_bearer`` looks at one all the same; what is not ``stored`` needs no database.

    ``errors`` are the statuses beyond those that follow from the rest: 400 for all, 401 for
    whoever needs a token, 413, 415 and 422 for whoever sends a body, 422 for a list, 409 with
    the codes in ``conflicts``, 503 for what is stored.
    """

    summary: str
    message: str
    reply: Any = None
    status: int = 200
    body: type[Struct] | None = None
    body_optional: bool = False
    example: dict[str, object] | None = None
    filters: type[Struct] | None = None
    identifiers: tuple[str, ...] = ()
    listed: bool = False
    errors: tuple[int, ...] = ()
    conflicts: tuple[str, ...] = ()
    public: bool = False
    heeds_bearer: bool = False
    stored: bool = True
    metadata: bool = True


def described(summary: str, message: str, **more: Any) -> dict[str, Endpoint]:
    """The ``opt`` of a route handler; ``more`` are the other fields of ``Endpoint``."""
    return {"endpoint": Endpoint(summary, message, **more)}
