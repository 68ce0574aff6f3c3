"""How extensions are searched."""

from __future__ import annotations

from typing import Annotated

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.search import Query, SearchFields, Whether

EXTENSION_FIELDS = SearchFields(texts=("name",), numbers=("extension",))


class ExtensionSearch(Command, frozen=True, kw_only=True):
    """Which extensions a list shows; None of a field means all."""

    q: Query | None = None
    type: Annotated[ExtensionType, schema(description="Only extensions of this type")] | None = None
    voicemail: Whether | None = None
    is_active: Whether | None = None
