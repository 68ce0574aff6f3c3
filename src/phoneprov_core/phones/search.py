"""How phones are searched."""

from __future__ import annotations

from typing import Annotated, Literal

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.search import Filter, Query, SearchFields, Whether

PHONE_FIELDS = SearchFields(texts=("name", "hostname", "phone_ip"), numbers=("mac",))


LastOutcome = Literal["none", "running", "deployed", "failed", "unknown", "interrupted"]
"""The outcome of the newest deployment of a phone, the one with the largest number. ``none``: the
phone has no deployment."""
_OUTCOME = (
    "Only phones whose newest deployment has this outcome; `none`: phones without a deployment. "
    "Needs level 0"
)
_USER = "Only phones at which this user is logged in; another user than the caller needs level 0"


class PhoneSearch(Command, frozen=True, kw_only=True):
    """Which phones a list shows; None of a field means all. ``user_uuid`` is who is logged in at
    the phone."""

    q: Query | None = None
    brand: Filter | None = None
    model: Filter | None = None
    location: Filter | None = None
    phone_vlan: Filter | None = None
    software_version: Filter | None = None
    software_type: Filter | None = None
    is_active: Whether | None = None
    last_outcome: Annotated[LastOutcome, schema(description=_OUTCOME)] | None = None
    user_uuid: Annotated[Uuid, schema(description=_USER)] | None = None
