"""How phones are searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import OptionalLine
from phoneprov_core.kernel.search import Query, SearchFields

PHONE_FIELDS = SearchFields(texts=("name", "hostname", "phone_ip"), numbers=("mac",))


class PhoneSearch(Command, frozen=True, kw_only=True):
    """Which phones a list shows; None of a field means all."""

    q: Query | None = None
    brand: OptionalLine | None = None
    model: OptionalLine | None = None
    location: OptionalLine | None = None
    phone_vlan: OptionalLine | None = None
    software_version: OptionalLine | None = None
    software_type: OptionalLine | None = None
    is_active: bool | None = None
