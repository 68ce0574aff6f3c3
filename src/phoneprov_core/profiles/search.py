"""How profiles are searched."""

from __future__ import annotations

from typing import Annotated

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.search import Query, SearchFields
from phoneprov_core.phones.model import Family

PROFILE_FIELDS = SearchFields(texts=("name",))


class ProfileSearch(Command, frozen=True, kw_only=True):
    """Which profiles a list shows; None of a field means all."""

    q: Query | None = None
    user_uuid: Annotated[Uuid, schema(description="Only profiles of this user")] | None = None
    software_type: (
        Annotated[Family, schema(description="Only profiles for this firmware family")] | None
    ) = None
