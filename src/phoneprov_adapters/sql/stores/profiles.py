"""Profiles in SQL; the configuration is encrypted."""

from __future__ import annotations

from typing import Any

import msgspec

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import profiles
from phoneprov_core.profiles.model import Profile


class SqlProfiles(SqlStore[Profile]):
    """Profiles, by uuid."""

    records = Records(
        Profile,
        profiles,
        owner="user_uuid",
        one_name="profile",
        columns=(
            "uuid",
            "user_uuid",
            "name",
            "description",
            "cnf_xml_key_id",
            "cnf_xml_sealed",
            "compatible_models",
            "software_type",
            "created_at",
            "updated_at",
        ),
    )

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection)
        self._box = box

    def _row_of(self, entity: Profile) -> dict[str, Any]:
        row = super()._row_of(entity)
        sealed = self._box.seal(row.pop("cnf_xml").encode(), _place(entity.uuid))
        row["cnf_xml_sealed"] = sealed.data
        row["cnf_xml_key_id"] = sealed.key_id
        row["compatible_models"] = msgspec.json.encode(entity.compatible_models).decode()
        return row

    def _entity_of(self, row: Row) -> Profile:
        uuid, user_uuid, name, description, key_id, sealed, models, *rest = row
        cnf_xml = self._box.open(Sealed(key_id, sealed), _place(uuid)).decode()
        compatible = msgspec.json.decode(models, type=tuple[str, ...])
        return Profile(uuid, user_uuid, name, description, cnf_xml, compatible, *rest)


def _place(uuid: str) -> str:
    return f"profiles|cnf_xml|{uuid}"
