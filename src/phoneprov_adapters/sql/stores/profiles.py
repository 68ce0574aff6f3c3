"""Profiles and their revisions in SQL; the configurations are encrypted in the revisions."""

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, exists, func, insert, or_, select

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.desks import SqlDesks
from phoneprov_adapters.sql.stores.retention import (
    OTHERS,
    is_in_running_batch,
    is_perhaps_target,
    is_same_revision,
    revisions_since,
)
from phoneprov_adapters.sql.stores.sealed import SealedColumn
from phoneprov_adapters.sql.stores.store import SqlRows, SqlSearchedRows, SqlStore
from phoneprov_adapters.sql.tables.searching import SearchedTable
from phoneprov_adapters.sql.tables.switching import (
    PROFILES,
    deployments,
    profile_revisions as revisions,
    profiles,
)
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.deployments.order import rollback_target
from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.profiles.model import (
    PROFILE_FIELDS,
    Content,
    Profile,
    ProfileRecord,
    Revision,
    whole,
)
from phoneprov_core.profiles.ports import RevisionStore, WholeProfileStore

_MOST_PHONES = 100
_CNF_XML = SealedColumn(revisions, "cnf_xml")
_SHA256 = SealedColumn(revisions, "sha256")
_PLAIN = [name for name in Revision.__struct_fields__ if name != "sha256"]
_COLUMNS = [revisions.c[name] for name in (*_PLAIN, "sha256_key_id", "sha256_sealed")]
_ADD = insert(revisions)
_OF_PROFILE = select(*_COLUMNS).where(revisions.c.profile_uuid == bindparam("profile_uuid"))
_FIND_REVISION = _OF_PROFILE.where(revisions.c.number == bindparam("number"))
_NEWEST = _OF_PROFILE.order_by(revisions.c.number.desc()).limit(1)
_CONTENT_OF = select(
    revisions.c.cnf_xml_key_id, revisions.c.cnf_xml_sealed, revisions.c.template
).where(revisions.c.uuid == bindparam("uuid"))
_is_on_phone = (
    exists()
    .where(
        deployments.c.profile_uuid == revisions.c.profile_uuid,
        deployments.c.revision == revisions.c.number,
        or_(
            deployments.c.outcome == Outcome.RUNNING.value,
            and_(deployments.c.place.is_not(None), revisions_since(~is_same_revision) <= OTHERS),
        ),
    )
    .correlate(revisions)
)
_UNNEEDED = (
    select(revisions.c.uuid, revisions.c.number)
    .where(
        revisions.c.profile_uuid == bindparam("profile_uuid"),
        revisions.c.number < bindparam("newest"),
        ~_is_on_phone,
        ~is_in_running_batch,
    )
    .order_by(revisions.c.number)
)
_PERHAPS_TARGET_ON = (
    select(deployments.c.mac)
    .where(
        deployments.c.profile_uuid == bindparam("profile_uuid"),
        deployments.c.revision == bindparam("number"),
        is_perhaps_target,
    )
    .distinct()
    .limit(_MOST_PHONES + 1)
)
_REMOVE = (
    delete(revisions).where(revisions.c.uuid == bindparam("the_uuid")).returning(revisions.c.uuid)
)
_REVISIONS = Query(
    select(*_COLUMNS),
    (revisions.c.number, revisions.c.uuid),
    owner=revisions.c.profile_uuid == bindparam("owner"),
)


class SqlRevisions(SqlRows[Revision], RevisionStore):
    """Revisions, by uuid."""

    def __init__(self, connection: Connection, box: SecretBox, deployed: DeploymentStore) -> None:
        super().__init__(connection, _REVISIONS, self._revision)
        self._box = box
        self._deployed = deployed

    async def add(self, revision: Revision, content: str) -> None:
        row = {name: getattr(revision, name) for name in _PLAIN}
        row |= _SHA256.sealed(self._box, bytes.fromhex(revision.sha256), revision.uuid)
        row |= _CNF_XML.sealed(self._box, content.encode(), revision.uuid)
        await self._connection.fetch_all(_ADD, **row)
        self._connection.trail.changed(revision.uuid, None, revision)

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        if not 0 < number < 2**31:
            return None
        row = await self._connection.fetch_one(
            _FIND_REVISION, profile_uuid=profile_uuid, number=number
        )
        return None if row is None else self._revision(row)

    async def newest(self, profile_uuid: str) -> Revision | None:
        row = await self._connection.fetch_one(_NEWEST, profile_uuid=profile_uuid)
        return None if row is None else self._revision(row)

    async def content(self, uuid: str) -> Content | None:
        row = await self._connection.fetch_one(_CONTENT_OF, uuid=uuid)
        if row is None:
            return None
        return Content(_CNF_XML.opened(self._box, row[0], row[1], uuid).decode(), row[2])

    async def remove_oldest(self, profile_uuid: str, most: int) -> int:
        newest = await self.newest(profile_uuid)
        excess = await self.count(profile_uuid) - most
        if newest is None or excess <= 0:
            return 0
        removed = 0
        for uuid, number in await self._connection.fetch_all(
            _UNNEEDED, profile_uuid=profile_uuid, newest=newest.number
        ):
            if removed < excess and not await self._is_target(profile_uuid, number):
                removed += len(await self._connection.fetch_all(_REMOVE, the_uuid=uuid))
        return removed

    async def _is_target(self, profile_uuid: str, number: int) -> bool:
        """Whether a rollback of a phone deploys the revision again, or of too many phones to
        examine."""
        rows = await self._connection.fetch_all(
            _PERHAPS_TARGET_ON, profile_uuid=profile_uuid, number=number
        )
        if len(rows) > _MOST_PHONES:
            return True
        targets = [await rollback_target(self._deployed, row[0]) for row in rows]
        return any(
            one is not None and (one.profile_uuid, one.revision) == (profile_uuid, number)
            for one in targets
        )

    def _revision(self, row: Row) -> Revision:
        *plain, key_id, data = row
        fields = dict(zip(_PLAIN, plain, strict=True))
        opened = _SHA256.opened(self._box, key_id, data, fields["uuid"])
        return Revision(**fields, sha256=opened.hex())


_numbers = revisions.alias("numbers")
_newest = (
    select(func.max(_numbers.c.number))
    .where(_numbers.c.profile_uuid == profiles.c.uuid)
    .correlate(profiles)
    .scalar_subquery()
)
_WHOLE = select(
    *[profiles.c[name] for name in ProfileRecord.__struct_fields__],
    revisions.c.uuid,
    revisions.c.cnf_xml_key_id,
    revisions.c.cnf_xml_sealed,
    revisions.c.template,
).join_from(
    profiles,
    revisions,
    (revisions.c.profile_uuid == profiles.c.uuid) & (revisions.c.number == _newest),
)
_POSITION = (profiles.c.created_at, profiles.c.uuid)
_OWNER = profiles.c.user_uuid == bindparam("owner")
_PROFILES = Query(_WHOLE, _POSITION, owner=_OWNER)
_SEARCHED = SearchedTable(_WHOLE, _POSITION, _OWNER, fields=PROFILE_FIELDS)
_HOLD_OF_OWNER = select(profiles.c.uuid).where(_OWNER).order_by(profiles.c.uuid).with_for_update()
_FIND = _WHOLE.where(profiles.c.uuid == bindparam("uuid"))


class SqlProfiles(SqlStore[ProfileRecord]):
    """Profiles, by uuid."""

    records = PROFILES

    async def remove(self, key: str) -> bool:
        await SqlDesks(self._connection).forget_default(key)
        return await super().remove(key)

    async def remove_of(self, column: str, owner: str) -> None:
        await self._connection.fetch_all(_HOLD_OF_OWNER, owner=owner)
        await SqlDesks(self._connection).forget_default(of_user=owner)
        await super().remove_of(column, owner)

    def _row_of(self, entity: ProfileRecord) -> dict[str, Any]:
        row = super()._row_of(entity)
        row["compatible_models"] = msgspec.json.encode(entity.compatible_models).decode()
        return row

    def _entity_of(self, row: Row) -> ProfileRecord:
        return _record(row)


class SqlWholeProfiles(SqlRows[Profile], WholeProfileStore):
    """Profiles joined with their newest revision."""

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection, _PROFILES, self._whole)
        self._box = box

    async def find(self, key: str) -> Profile | None:
        row = await self._connection.fetch_one(_FIND, uuid=key) if key else None
        return None if row is None else self._whole(row)

    def matching(self, search: Search) -> Rows[Profile]:
        return SqlSearchedRows(self._connection, _SEARCHED, search, self._whole)

    def _whole(self, row: Row) -> Profile:
        *record, revision, key_id, sealed, template = row
        text = _CNF_XML.opened(self._box, key_id, sealed, revision).decode()
        return whole(_record(record), Content(text, template))


def _record(row: Row) -> ProfileRecord:
    fields = dict(zip(ProfileRecord.__struct_fields__, row, strict=True))
    models = msgspec.json.decode(fields.pop("compatible_models"), type=tuple[str, ...])
    return ProfileRecord(compatible_models=models, **fields)
