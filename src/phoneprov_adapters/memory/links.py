"""Links between users and extensions in memory."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.extensions import EXTENSIONS
from phoneprov_adapters.memory.records import Kind, OnRemove, Reference
from phoneprov_adapters.memory.store import MemoryRows
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.kernel.errors import already_taken
from phoneprov_core.kernel.store import Rows
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser, LinkStore

E = TypeVar("E", bound=Struct)

LINKS: Kind[Link] = Kind(
    "link",
    references=(
        Reference("user_uuid", USERS, OnRemove.GO_ALONG),
        Reference("extension_uuid", EXTENSIONS, OnRemove.GO_ALONG),
    ),
)


class MemoryLinks(LinkStore):
    """Links, by uuid."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, link: Link) -> None:
        others = self._tables.of(LINKS).group(("user_uuid", link.user_uuid))
        if any(other.extension_uuid == link.extension_uuid for other in others):
            raise already_taken("extension uuid", "extension_uuid")
        self._tables.add(LINKS, link)
        self._tables.trail.changed(link.uuid, None, link)

    async def remove(self, uuid: str) -> bool:
        link = self._tables.of(LINKS).get(uuid)
        if not self._tables.remove(LINKS, uuid):
            return False
        self._tables.trail.changed(uuid, link, None)
        return True

    @property
    def full(self) -> Rows[FullLink]:
        return self._viewed(FullLink, owner="user_uuid")

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        return self._viewed(LinkedExtension, owner="user_uuid")

    @property
    def users(self) -> Rows[LinkedUser]:
        return self._viewed(LinkedUser, owner="extension_uuid")

    def _viewed(self, view: type[E], *, owner: str) -> Rows[E]:
        def of_link(link: Link) -> E:
            user = self._tables.of(USERS).get(link.user_uuid)
            extension = self._tables.of(EXTENSIONS).get(link.extension_uuid)
            # A link is deleted with its user and with its extension.
            assert user is not None
            assert extension is not None
            values = {
                **msgspec.structs.asdict(link),
                "username": user.username,
                "first_name": user.first_name,
                "last_name": user.last_name,
                "extension": extension.extension,
                "ext_name": extension.name,
                "type": extension.type,
            }
            return view(**{name: values[name] for name in view.__struct_fields__})

        return MemoryRows(self._tables, LINKS, of_link, owner=owner)
