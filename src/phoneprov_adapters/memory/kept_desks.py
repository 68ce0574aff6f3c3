"""The records of desks in memory."""

from __future__ import annotations

from msgspec import Struct

from phoneprov_adapters.memory.records import Kind
from phoneprov_core.desks.model import DeskRecord


class KeptDesk(Struct, frozen=True):
    """A desk, with the user of the change that is under way."""

    mac: str
    desk: DeskRecord
    change_user_uuid: str | None = None
    not_before: int = 0


DESKS: Kind[KeptDesk] = Kind("desk", key="mac", created="mac")
