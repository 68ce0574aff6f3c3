"""How phones are searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.search import Filter, Query, SearchFields, Whether

PHONE_FIELDS = SearchFields(texts=("name", "hostname", "phone_ip"), numbers=("mac",))


class PhoneSearch(Command, frozen=True, kw_only=True):
    """Which phones a list shows; None of a field means all."""

    q: Query | None = None
    brand: Filter | None = None
    model: Filter | None = None
    location: Filter | None = None
    phone_vlan: Filter | None = None
    software_version: Filter | None = None
    software_type: Filter | None = None
    is_active: Whether | None = None
