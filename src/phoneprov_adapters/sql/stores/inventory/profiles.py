"""Profiles and their revisions in SQL; the configurations are encrypted in the revisions."""

from typing import Any

from sqlalchemy import bindparam, delete, exists, func, insert, select, tuple_

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.features.desks import SqlDesks
from phoneprov_adapters.sql.stores.features.numbers import (
    first_number,
    profiles_of_users,
    users_with_number,
)
from phoneprov_adapters.sql.stores.features.retention import is_in_running_batch, is_perhaps_target
from phoneprov_adapters.sql.stores.store import SqlRows, SqlSearchedRows, SqlStore, reader
from phoneprov_adapters.sql.tables.columns import Fields, SealedColumn
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.records import SearchedTable
from phoneprov_adapters.sql.tables.switching import (
    PROFILES,
    deployments,
    profile_revisions as revisions,
    profiles,
)
from phoneprov_core.features.retention import OTHERS
from phoneprov_core.inventory.profiles.model import Content, Profile, ProfileRecord, Revision, whole
from phoneprov_core.inventory.profiles.reading import RevisionStore, WholeProfileStore
from phoneprov_core.inventory.profiles.use_cases import PROFILE_FIELDS
from phoneprov_core.kernel.ports import Rows
from phoneprov_core.kernel.search import Search
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.ports import DeploymentStore, rollback_target

_MOST_PHONES = 100
_CNF_XML = SealedColumn(revisions, "cnf_xml")
_REVISION = Fields(Revision, revisions)
_ADD = insert(revisions)
_OF_PROFILE = select(*_REVISION.columns).where(
    revisions.c.profile_uuid == bindparam("profile_uuid")
)
_FIND_REVISION = _OF_PROFILE.where(revisions.c.number == bindparam("number"))
_NEWEST = _OF_PROFILE.order_by(revisions.c.number.desc()).limit(1)
_CONTENT_OF = select(
    *(revisions.c.cnf_xml_key_id, revisions.c.cnf_xml_sealed),
    *(revisions.c.template, revisions.c.by_level_0),
).where(revisions.c.uuid == bindparam("uuid"))
# Of each phone that ever had the profile, the last number of each revision that was put onto it; in
# one pass: a condition for each deployment would look through all later ones.
_other = deployments.alias("other")
_last = (
    select(
        *(deployments.c.mac, deployments.c.profile_uuid, deployments.c.revision),
        func.max(deployments.c.number).label("number"),
    )
    .where(
        deployments.c.place.is_not(None),
        deployments.c.mac.in_(
            select(_other.c.mac).where(_other.c.profile_uuid == bindparam("profile_uuid"))
        ),
    )
    .group_by(deployments.c.mac, deployments.c.profile_uuid, deployments.c.revision)
    .subquery("last")
)
_ranked = select(
    _last.c.profile_uuid,
    _last.c.revision,
    func.row_number().over(partition_by=_last.c.mac, order_by=_last.c.number.desc()).label("rank"),
).subquery("ranked")
_on_phones = select(_ranked.c.revision).where(
    _ranked.c.profile_uuid == bindparam("profile_uuid"), _ranked.c.rank <= OTHERS + 1
)
_is_running = (
    exists()
    .where(
        deployments.c.profile_uuid == revisions.c.profile_uuid,
        deployments.c.revision == revisions.c.number,
        deployments.c.outcome == Outcome.RUNNING.value,
    )
    .correlate(revisions)
)
_UNNEEDED = (
    select(revisions.c.uuid, revisions.c.number)
    .where(
        revisions.c.profile_uuid == bindparam("profile_uuid"),
        revisions.c.number < bindparam("newest"),
        revisions.c.number.not_in(_on_phones),
        ~_is_running,
        ~is_in_running_batch,
    )
    .order_by(revisions.c.number)
)
# If an earlier deployment of the revision to a phone may be the target, the last one may be, too.
_last_of_revision = (
    select(_other.c.mac, func.max(_other.c.number))
    .where(
        _other.c.profile_uuid == bindparam("profile_uuid"),
        _other.c.revision == bindparam("number"),
        _other.c.place.is_not(None),
        _other.c.outcome != Outcome.RUNNING.value,
        _other.c.outcome != Outcome.UNKNOWN.value,
    )
    .group_by(_other.c.mac)
)
_PERHAPS_TARGET_ON = (
    select(deployments.c.mac)
    .where(
        tuple_(deployments.c.mac, deployments.c.number).in_(_last_of_revision), is_perhaps_target
    )
    .limit(_MOST_PHONES + 1)
)
_REMOVE = (
    delete(revisions).where(revisions.c.uuid == bindparam("the_uuid")).returning(revisions.c.uuid)
)
_REVISIONS = Query(
    select(*_REVISION.columns),
    (revisions.c.number, revisions.c.uuid),
    owner=revisions.c.profile_uuid == bindparam("owner"),
)


class SqlRevisions(SqlRows[Revision], RevisionStore):
    """Revisions, by uuid."""

    def __init__(self, connection: Connection, deployed: DeploymentStore) -> None:
        super().__init__(connection, _REVISIONS, reader(_REVISION, connection.box))
        self._deployed = deployed

    async def add(self, revision: Revision, content: str, *, by_level_0: bool = False) -> None:
        row = _REVISION.row(revision, self._connection.box)
        row["by_level_0"] = by_level_0
        row |= _CNF_XML.seal(self._connection.box, content.encode(), revision.uuid)
        await self._connection.fetch_all(_ADD, **row)
        self._connection.trail.changed(revision.uuid, None, revision)

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        if not 0 < number < 2**31:
            return None
        values = {"profile_uuid": profile_uuid, "number": number}
        return await self._one(self._revision, _FIND_REVISION, **values)

    async def newest(self, profile_uuid: str) -> Revision | None:
        return await self._one(self._revision, _NEWEST, profile_uuid=profile_uuid)

    async def content(self, uuid: str) -> Content | None:
        def content(key_id: str, sealed: bytes, template: str | None, by_level_0: bool) -> Content:
            text = _CNF_XML.open(self._connection.box, key_id, sealed, uuid)
            return Content(text.decode(), template, bool(by_level_0))

        return await self._one(content, _CONTENT_OF, uuid=uuid)

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
        values = {"profile_uuid": profile_uuid, "number": number}
        macs = await self._all(str, _PERHAPS_TARGET_ON, **values)
        if len(macs) > _MOST_PHONES:
            return True
        targets = [await rollback_target(self._deployed, mac) for mac in macs]
        return any(
            one is not None and (one.profile_uuid, one.revision) == (profile_uuid, number)
            for one in targets
        )

    def _revision(self, *row: Any) -> Revision:
        return _REVISION.read(row, self._connection.box)


_numbers = revisions.alias("numbers")
_newest = (
    select(func.max(_numbers.c.number))
    .where(_numbers.c.profile_uuid == profiles.c.uuid)
    .correlate(profiles)
    .scalar_subquery()
)
_WHOLE = select(
    *PROFILES.fields.columns,
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
_username = (
    select(users.c.username)
    .where(users.c.uuid == profiles.c.user_uuid)
    .correlate(profiles)
    .scalar_subquery()
)
_SEARCHED = SearchedTable(
    _WHOLE,
    _POSITION,
    _OWNER,
    {"number": profiles.c.user_uuid.in_(users_with_number())},
    fields=PROFILE_FIELDS,
    people=profiles_of_users,
    orders={
        "username": (_username, profiles),
        "number": (first_number(profiles.c.user_uuid), profiles),
    },
)
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


class SqlWholeProfiles(SqlRows[Profile], WholeProfileStore):
    """Profiles joined with their newest revision."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _PROFILES, self._whole)

    async def find(self, key: str) -> Profile | None:
        row = await self._connection.fetch_one(_FIND, uuid=key) if key else None
        return None if row is None else self._whole(row)

    def matching(self, search: Search) -> Rows[Profile]:
        return SqlSearchedRows(self._connection, _SEARCHED, search, self._whole)

    def _whole(self, row: Row) -> Profile:
        *record, revision, key_id, sealed, template = row
        box = self._connection.box
        text = _CNF_XML.open(box, key_id, sealed, revision).decode()
        return whole(PROFILES.fields.read(record, box), Content(text, template))
