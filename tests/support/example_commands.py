"""A record and its commands, for tests of bodies and commands."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Check, Description, Level, Line, MacAddress, Uuid, each

UUID = "00000000-0000-4000-8000-00000000000a"


class Desk(Struct, frozen=True):
    """A record as it is read."""

    uuid: str
    mac: str
    name: str
    description: str | None
    created_at: str


class NewDesk(Command, frozen=True, kw_only=True):
    """A record to be created."""

    mac: MacAddress
    name: Line
    description: Description | None = None
    floor: Level = 0
    is_active: bool = True
    tags: Annotated[tuple[str, ...], Check(each(values.required_text, most=2))] = ()


class DeskPatch(Command, frozen=True, kw_only=True):
    """Changes to a record."""

    name: Line | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    owner: Uuid | UnsetType | None = UNSET
