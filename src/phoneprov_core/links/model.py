"""Links between users and extensions, and their views."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.extensions.model import ExtensionType
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import (
    CreatedAt,
    ExtensionNumber,
    RecordUuid,
    UserUuid,
    Uuid,
    schema,
)
from phoneprov_core.users.model import FirstName, LastName, LoginName

NameOfExtension = Annotated[
    str, schema(description="Name of the extension", examples=["Front desk"])
]


ExtensionUuid = Annotated[Uuid, schema(description="UUID of the extension")]


class Link(Struct, frozen=True):
    """A link: a user has an extension. Both may have many links."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    created_at: CreatedAt


class FullLink(Struct, frozen=True):
    """A link with its user and its extension."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    username: LoginName
    first_name: FirstName
    last_name: LastName
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: CreatedAt


class LinkedExtension(Struct, frozen=True):
    """A link with its extension."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: CreatedAt


class LinkedUser(Struct, frozen=True):
    """A link with its user."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    username: LoginName
    first_name: FirstName
    last_name: LastName
    created_at: CreatedAt


class NewLink(Command, frozen=True, kw_only=True):
    """A link to be created."""

    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
