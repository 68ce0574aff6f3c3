"""Extensions in SQL; passwords and passcodes are encrypted."""

from __future__ import annotations

from typing import Any

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import extensions
from phoneprov_core.extensions.model import EXTENSION_FIELDS, Extension


class SqlExtensions(SqlSearchedStore[Extension]):
    """Extensions, by uuid."""

    records = Records(
        Extension,
        extensions,
        one_name="extension",
        search=EXTENSION_FIELDS,
        columns=(
            "uuid",
            "type",
            "extension",
            "name",
            "password_key_id",
            "password_sealed",
            "description",
            "voicemail",
            "voicemail_passcode_key_id",
            "voicemail_passcode_sealed",
            "is_active",
            "created_at",
            "created_by",
            "updated_at",
            "updated_by",
            "created_ip",
            "updated_ip",
        ),
    )

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection)
        self._box = box

    def _row_of(self, entity: Extension) -> dict[str, Any]:
        row = super()._row_of(entity)
        for column in ("password", "voicemail_passcode"):
            secret = row.pop(column)
            sealed = None
            if secret is not None:
                sealed = self._box.seal(secret.encode(), _place(column, entity.uuid))
            row[f"{column}_sealed"] = sealed and sealed.data
            row[f"{column}_key_id"] = sealed and sealed.key_id
        return row

    def _entity_of(self, row: Row) -> Extension:
        uuid, type_, number, name, key_id, sealed, description, voicemail, *rest = row
        passcode_key_id, passcode_sealed, *rest = rest
        password = self._opened("password", uuid, key_id, sealed)
        passcode = None
        if passcode_sealed is not None:
            passcode = self._opened("voicemail_passcode", uuid, passcode_key_id, passcode_sealed)
        return Extension(
            uuid, type_, number, name, password, description, voicemail, passcode, *rest
        )

    def _opened(self, column: str, uuid: str, key_id: str, sealed: bytes) -> str:
        return self._box.open(Sealed(key_id, sealed), _place(column, uuid)).decode()


def _place(column: str, uuid: str) -> str:
    return f"extensions|{column}|{uuid}"
