"""The revisions of profiles in SQL; their configurations are encrypted."""

from __future__ import annotations

import hashlib

from sqlalchemy import (
    Text,
    and_,
    bindparam,
    cast,
    delete,
    distinct,
    exists,
    func,
    insert,
    or_,
    select,
)

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.hashes import HashColumns
from phoneprov_adapters.sql.stores.needed_deployments import is_perhaps_target
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.tables import batches, deployments
from phoneprov_adapters.sql.tables import profile_revisions as table
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.deployments.rollback_target import rollback_target
from phoneprov_core.profiles.model import Revision
from phoneprov_core.profiles.ports import RevisionStore

_OTHERS = 3  # See the port.
_MOST_PHONES = 100
_PLAIN = [name for name in Revision.__struct_fields__ if name != "sha256"]
_COLUMNS = [table.c[name] for name in (*_PLAIN, "sha256_key_id", "sha256_sealed")]
_ADD = insert(table)
_OF_PROFILE = select(*_COLUMNS).where(table.c.profile_uuid == bindparam("profile_uuid"))
_FIND = _OF_PROFILE.where(table.c.number == bindparam("number"))
_NEWEST = _OF_PROFILE.order_by(table.c.number.desc()).limit(1)
_CNF_XML = select(table.c.cnf_xml_key_id, table.c.cnf_xml_sealed).where(
    table.c.uuid == bindparam("uuid")
)


_kept = table.alias("kept")
_on_phone = deployments.alias("on_phone")
_later = deployments.alias("later")
_other_revisions_since = (
    select(func.count(distinct(_later.c.profile_uuid + cast(_later.c.revision, Text))))
    .where(
        _later.c.mac == _on_phone.c.mac,
        _later.c.number > _on_phone.c.number,
        _later.c.place.is_not(None),
        or_(
            _later.c.profile_uuid != _on_phone.c.profile_uuid,
            _later.c.revision != _on_phone.c.revision,
        ),
    )
    .correlate(_on_phone)
    .scalar_subquery()
)
_is_on_phone = (
    exists()
    .where(
        _on_phone.c.profile_uuid == _kept.c.profile_uuid,
        _on_phone.c.revision == _kept.c.number,
        or_(
            _on_phone.c.outcome == Outcome.RUNNING.value,
            and_(_on_phone.c.place.is_not(None), _other_revisions_since <= _OTHERS),
        ),
    )
    .correlate(_kept)
)
_is_in_batch = (
    exists()
    .where(
        batches.c.profile_uuid == _kept.c.profile_uuid,
        batches.c.revision == _kept.c.number,
        batches.c.ended_at.is_(None),
    )
    .correlate(_kept)
)
_UNNEEDED = (
    select(_kept.c.uuid, _kept.c.number)
    .where(
        _kept.c.profile_uuid == bindparam("profile_uuid"),
        _kept.c.number < bindparam("newest"),
        ~_is_on_phone,
        ~_is_in_batch,
    )
    .order_by(_kept.c.number)
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
_REMOVE = delete(table).where(table.c.uuid == bindparam("the_uuid")).returning(table.c.uuid)


_QUERY = Query(
    select(*_COLUMNS),
    (table.c.number, table.c.uuid),
    owner=table.c.profile_uuid == bindparam("owner"),
)


class SqlRevisions(SqlRows[Revision], RevisionStore):
    """Revisions, by uuid."""

    def __init__(self, connection: Connection, box: SecretBox, deployed: DeploymentStore) -> None:
        super().__init__(connection, _QUERY)
        self._box = box
        self._deployed = deployed
        self._hashes = HashColumns(table.name, box)

    async def add(self, revision: Revision, cnf_xml: str) -> None:
        row = {name: getattr(revision, name) for name in _PLAIN}
        row |= self._hashes.sealed(revision.sha256, revision.uuid)
        sealed = self._box.seal(cnf_xml.encode(), place(revision.uuid))
        row["cnf_xml_sealed"] = sealed.data
        row["cnf_xml_key_id"] = sealed.key_id
        await self._connection.rows(_ADD, **row)
        self._connection.trail.changed(revision.uuid, None, revision)

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        if not 0 < number < 2**31:
            return None
        row = await self._connection.row(_FIND, profile_uuid=profile_uuid, number=number)
        return None if row is None else await self._revision(row)

    async def newest(self, profile_uuid: str) -> Revision | None:
        row = await self._connection.row(_NEWEST, profile_uuid=profile_uuid)
        return None if row is None else await self._revision(row)

    async def cnf_xml(self, uuid: str) -> str | None:
        row = await self._connection.row(_CNF_XML, uuid=uuid)
        return None if row is None else self._box.open(Sealed(*row), place(uuid)).decode()

    async def remove_oldest(self, profile_uuid: str, most: int) -> int:
        newest = await self.newest(profile_uuid)
        excess = await self.count(profile_uuid) - most
        if newest is None or excess <= 0:
            return 0
        removed = 0
        for uuid, number in await self._connection.rows(
            _UNNEEDED, profile_uuid=profile_uuid, newest=newest.number
        ):
            if removed < excess and not await self._is_target(profile_uuid, number):
                removed += len(await self._connection.rows(_REMOVE, the_uuid=uuid))
        return removed

    async def _is_target(self, profile_uuid: str, number: int) -> bool:
        """Whether a rollback of a phone deploys the revision again, or of too many phones to
        examine."""
        rows = await self._connection.rows(
            _PERHAPS_TARGET_ON, profile_uuid=profile_uuid, number=number
        )
        if len(rows) > _MOST_PHONES:
            return True
        targets = [await rollback_target(self._deployed, row[0]) for row in rows]
        return any(
            one is not None and (one.profile_uuid, one.revision) == (profile_uuid, number)
            for one in targets
        )

    async def rows(
        self,
        limit: int,
        *,
        after: Revision | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[Revision]:
        found = await self._read(limit, after, offset, owner)
        return [await self._revision(row) for row in found]

    async def _revision(self, row: Row) -> Revision:
        *plain, key_id, data = row
        fields = dict(zip(_PLAIN, plain, strict=True))
        sha256 = self._hashes.opened(key_id, data, fields["uuid"])
        if sha256 is None:  # A revision from before schema 0005.
            content = await self.cnf_xml(fields["uuid"]) or ""
            sha256 = hashlib.sha256(content.encode()).hexdigest()
        return Revision(**fields, sha256=sha256)


def place(uuid: str) -> str:
    """The place of the configuration of the revision with this uuid."""
    return f"profile_revisions|cnf_xml|{uuid}"
