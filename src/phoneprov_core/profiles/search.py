"""How profiles are searched."""

from __future__ import annotations

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Uuid
from phoneprov_core.kernel.search import Query, SearchFields
from phoneprov_core.phones.model import Family

PROFILE_FIELDS = SearchFields(texts=("name",))


class ProfileSearch(Command, frozen=True, kw_only=True):
    """Which profiles a list shows; None of a field means all."""

    q: Query | None = None
    user_uuid: Uuid | None = None
    software_type: Family | None = None
