"""How extensions are searched."""

from __future__ import annotations

from msgspec import Struct

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import settle
from phoneprov_core.kernel.search import Query, SearchFields

EXTENSION_FIELDS = SearchFields(texts=("name",), numbers=("extension",))


class ExtensionSearch(Struct, frozen=True, kw_only=True):
    """Which extensions a list shows; None of a field means all."""

    q: Query | None = None
    type: ExtensionType | None = None
    voicemail: bool | None = None
    is_active: bool | None = None

    def __post_init__(self) -> None:
        settle(self)
