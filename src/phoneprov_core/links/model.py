"""Links between users and extensions, and what is told of both ends."""

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
    """A user has an extension; both may have many."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    created_at: CreatedAt


class FullLink(Struct, frozen=True):
    """A link, and who and what it links."""

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
    """A link, and the extension that the user has by it."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    extension: ExtensionNumber
    ext_name: NameOfExtension
    type: ExtensionType
    created_at: CreatedAt


class LinkedUser(Struct, frozen=True):
    """A link, and the user who has the extension by it."""

    uuid: RecordUuid
    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
    username: LoginName
    first_name: FirstName
    last_name: LastName
    created_at: CreatedAt


class NewLink(Command, frozen=True, kw_only=True):
    """A user and the extension to be linked to them."""

    user_uuid: UserUuid
    extension_uuid: ExtensionUuid
