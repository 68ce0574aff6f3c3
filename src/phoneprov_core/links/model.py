"""Links between users and extensions, and what is told of both ends."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import ExtensionNumber, Uuid, schema
from phoneprov_core.kernel.times import Timestamp

NameOfExtension = Annotated[str, schema(description="The name of the extension")]


class Link(Struct, frozen=True):
    """A user has an extension; both may have many."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    created_at: Timestamp


class FullLink(Struct, frozen=True):
    """A link, and who and what it links."""

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
    """A link, and the extension that the user has by it."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: Timestamp


class LinkedUser(Struct, frozen=True):
    """A link, and the user who has the extension by it."""

    uuid: Uuid
    user_uuid: Uuid
    extension_uuid: Uuid
    username: str
    first_name: str
    last_name: str
    created_at: Timestamp


class NewLink(Command, frozen=True, kw_only=True):
    """A user and the extension to be linked to them."""

    user_uuid: Uuid
    extension_uuid: Uuid
