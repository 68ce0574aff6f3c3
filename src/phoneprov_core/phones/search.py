"""How phones are searched."""

from __future__ import annotations

from typing import Literal

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import OptionalLine, Uuid
from phoneprov_core.kernel.search import Query, SearchFields

PHONE_FIELDS = SearchFields(texts=("name", "hostname", "phone_ip"), numbers=("mac",))


LastOutcome = Literal["none", "running", "deployed", "failed", "unknown", "interrupted"]
"""The outcome of the newest deployment of a phone, the one with the largest number. ``none``: the
phone has no deployment."""


class PhoneSearch(Command, frozen=True, kw_only=True):
    """Which phones a list shows; None of a field means all. ``user_uuid`` is who is logged in at
    the phone."""

    q: Query | None = None
    brand: OptionalLine | None = None
    model: OptionalLine | None = None
    location: OptionalLine | None = None
    phone_vlan: OptionalLine | None = None
    software_version: OptionalLine | None = None
    software_type: OptionalLine | None = None
    is_active: bool | None = None
    last_outcome: LastOutcome | None = None
    user_uuid: Uuid | None = None
