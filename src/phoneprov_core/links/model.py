"""Links between users and extensions, and their views."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import ExtensionNumber, Uuid, schema
from phoneprov_core.kernel.times import Timestamp

NameOfExtension = Annotated[str, schema(description="The name of the extension")]


class Link(Struct, frozen=True):
    """A link: a user has an extension. Both may have many links."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    created_at: Timestamp


class FullLink(Struct, frozen=True):
    """A link with its user and its extension."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    username: str
    first_name: str
    last_name: str
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: Timestamp


class LinkedExtension(Struct, frozen=True):
    """A link with its extension."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: Timestamp


class LinkedUser(Struct, frozen=True):
    """A link with its user."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    username: str
    first_name: str
    last_name: str
    created_at: Timestamp


class NewLink(Command, frozen=True, kw_only=True):
    """A link to be created."""

    user_uuid: Uuid
    extension_uuid: Uuid
