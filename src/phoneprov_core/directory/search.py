"""How the company directory is searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import OptionalLine
from phoneprov_core.kernel.search import Query, SearchFields

CONTACT_FIELDS = SearchFields(texts=("name", "email"), numbers=("work", "mobile", "home"))


class ContactSearch(Command, frozen=True, kw_only=True):
    """Which company contacts a list shows; None of a field means all."""

    q: Query | None = None
    department: OptionalLine | None = None
    company: OptionalLine | None = None
    location: OptionalLine | None = None
    building: OptionalLine | None = None
    is_active: bool | None = None
