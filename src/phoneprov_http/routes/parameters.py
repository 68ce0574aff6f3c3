"""Parameters that several routes share."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request
from litestar.params import PathParameter, QueryParameter

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.fields import MAC
from phoneprov_core.kernel.ids import UUID
from phoneprov_core.kernel.store import Page, Window

ApiRequest = Request[Actor, None, Any]
"""A request; ``user`` is the caller."""
PublicRequest = Request[Actor | None, None, Any]
"""A request without an access token, or where it is optional."""

LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""Pattern of a text without control characters."""

_UUID = {"format": "uuid", "examples": ["5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"]}

Uuid = Annotated[str, PathParameter(description="UUID of the record", schema_extra=_UUID)]
UserUuid = Annotated[str, PathParameter(description="UUID of the user", schema_extra=_UUID)]
ExtensionUuid = Annotated[
    str, PathParameter(description="UUID of the extension", schema_extra=_UUID)
]
Mac = Annotated[
    str,
    PathParameter(
        description=(
            "MAC address of the phone: 12 hexadecimal digits, separated by `:` or `-` or dots, "
            "or not separated"
        ),
        schema_extra={"pattern": MAC, "examples": ["00:1B:D4:12:34:56"]},
    ),
]

Limit = Annotated[
    int | None,
    QueryParameter(
        description="Maximum number of rows; 1000 if only `offset` is sent", ge=1, le=1000
    ),
]
Offset = Annotated[
    int | None,
    QueryParameter(
        description="Number of rows to skip", ge=0, le=2**63 - 1, schema_extra={"minimum": 0}
    ),
]

Before = Annotated[
    str | None,
    QueryParameter(
        description=(
            "Newest first, after the record with this UUID, without a total. Not allowed with "
            "`offset`; ffffffff-ffff-ffff-ffff-ffffffffffff begins with the newest"
        ),
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]


def page(limit: int | None, offset: int | None) -> Page:
    """The page that the query selects; None for the whole list."""
    if limit is None and offset is None:
        return None
    return Window(limit=1000 if limit is None else limit, offset=offset or 0)
