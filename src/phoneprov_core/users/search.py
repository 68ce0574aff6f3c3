"""How accounts are searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.search import Filter, Query, SearchFields, Whether

USER_FIELDS = SearchFields(
    texts=("first_name", "last_name", "username", "email"), numbers=("phone",)
)


class UserSearch(Command, frozen=True, kw_only=True):
    """Which accounts a list shows; None of a field means all."""

    q: Query | None = None
    lang: Filter | None = None
    location: Filter | None = None
    nationality: Filter | None = None
    timezone: Filter | None = None
    is_active: Whether | None = None
