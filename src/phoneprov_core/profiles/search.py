"""How profiles are searched."""

from __future__ import annotations

from msgspec import Struct

from phoneprov_core.kernel.commands import settle
from phoneprov_core.kernel.fields import Uuid
from phoneprov_core.kernel.search import Query, SearchFields
from phoneprov_core.phones.model import Family

PROFILE_FIELDS = SearchFields(texts=("name",))


class ProfileSearch(Struct, frozen=True, kw_only=True):
    """Which profiles a list shows; None of a field means all."""

    q: Query | None = None
    user_uuid: Uuid | None = None
    software_type: Family | None = None

    def __post_init__(self) -> None:
        settle(self)
