"""How accounts are searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import OptionalLine
from phoneprov_core.kernel.search import Query, SearchFields

USER_FIELDS = SearchFields(
    texts=("first_name", "last_name", "username", "email"), numbers=("phone",)
)


class UserSearch(Command, frozen=True, kw_only=True):
    """Which accounts a list shows; None of a field means all."""

    q: Query | None = None
    lang: OptionalLine | None = None
    location: OptionalLine | None = None
    nationality: OptionalLine | None = None
    timezone: OptionalLine | None = None
    is_active: bool | None = None
