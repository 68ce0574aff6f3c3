"""How extensions are searched."""

from __future__ import annotations

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.search import Query, SearchFields

EXTENSION_FIELDS = SearchFields(texts=("name",), numbers=("extension",))


class ExtensionSearch(Command, frozen=True, kw_only=True):
    """Which extensions a list shows; None of a field means all."""

    q: Query | None = None
    type: ExtensionType | None = None
    voicemail: bool | None = None
    is_active: bool | None = None
