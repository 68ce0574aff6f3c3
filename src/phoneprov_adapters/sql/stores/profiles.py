"""Profiles in SQL. Their configurations are in ``revisions``."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.revisions import place
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.stores.searching import SearchedTable
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import profile_revisions, profiles
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.profiles.model import PROFILE_FIELDS, Profile, ProfileRecord, whole
from phoneprov_core.profiles.ports import WholeProfileStore

_numbers = profile_revisions.alias("numbers")
_newest = (
    select(func.max(_numbers.c.number))
    .where(_numbers.c.profile_uuid == profiles.c.uuid)
    .correlate(profiles)
    .scalar_subquery()
)
_WHOLE = select(
    *[profiles.c[name] for name in ProfileRecord.__struct_fields__],
    profile_revisions.c.uuid,
    profile_revisions.c.cnf_xml_key_id,
    profile_revisions.c.cnf_xml_sealed,
).join_from(
    profiles,
    profile_revisions,
    (profile_revisions.c.profile_uuid == profiles.c.uuid) & (profile_revisions.c.number == _newest),
)
_POSITION = (profiles.c.created_at, profiles.c.uuid)
_OWNER = profiles.c.user_uuid == bindparam("owner")
_QUERY = Query(_WHOLE, _POSITION, owner=_OWNER)
_SEARCHED = SearchedTable(_WHOLE, _POSITION, _OWNER)
_FIND = _WHOLE.where(profiles.c.uuid == bindparam("uuid"))


class SqlProfiles(SqlStore[ProfileRecord]):
    """Profiles, by uuid."""

    records = Records(
        ProfileRecord, profiles, owner="user_uuid", one_name="profile", search=PROFILE_FIELDS
    )

    def _row_of(self, entity: ProfileRecord) -> dict[str, Any]:
        row = super()._row_of(entity)
        row["compatible_models"] = msgspec.json.encode(entity.compatible_models).decode()
        return row

    def _entity_of(self, row: Row) -> ProfileRecord:
        return _record(row)


class SqlWholeProfiles(SqlRows[Profile], WholeProfileStore):
    """Profiles joined with their newest revision."""

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection, _QUERY, self._whole)
        self._box = box

    async def find(self, key: str) -> Profile | None:
        row = await self._connection.row(_FIND, uuid=key) if key else None
        return None if row is None else self._whole(row)

    def matching(self, search: Search) -> Rows[Profile]:
        return _SEARCHED.rows(self._connection, search, self._whole)

    def _whole(self, row: Row) -> Profile:
        *record, revision, key_id, sealed = row
        cnf_xml = self._box.open(Sealed(key_id, sealed), place(revision)).decode()
        return whole(_record(record), cnf_xml)


def _record(row: Row) -> ProfileRecord:
    fields = dict(zip(ProfileRecord.__struct_fields__, row, strict=True))
    models = msgspec.json.decode(fields.pop("compatible_models"), type=tuple[str, ...])
    return ProfileRecord(compatible_models=models, **fields)
