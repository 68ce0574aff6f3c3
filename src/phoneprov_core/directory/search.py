"""How the company directory is searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.search import Filter, Query, SearchFields, Whether

CONTACT_FIELDS = SearchFields(texts=("name", "email"), numbers=("work", "mobile", "home"))


class ContactSearch(Command, frozen=True, kw_only=True):
    """Which company contacts a list shows; None of a field means all."""

    q: Query | None = None
    department: Filter | None = None
    company: Filter | None = None
    location: Filter | None = None
    building: Filter | None = None
    is_active: Whether | None = None
