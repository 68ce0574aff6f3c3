"""Templates, and the texts that were rendered, in SQL; both are encrypted."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, func, insert, select, update

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlStore
from phoneprov_adapters.sql.tables.fields import SealedColumn, json_text
from phoneprov_adapters.sql.tables.switching import (
    TEMPLATES,
    deployments,
    profile_revisions as revisions,
    renderings,
    templates,
)
from phoneprov_core.features.templates.model import Template
from phoneprov_core.features.templates.recipes import TemplateUses
from phoneprov_core.features.templates.use_cases import TemplateStore
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.texts import Rendered, RenderingStore

_VARIANTS = (
    select(*TEMPLATES.fields.columns)
    .where(templates.c.name == bindparam("name"))
    .order_by(templates.c.created_at, templates.c.uuid)
)
_newer = revisions.alias("newer")
_PROFILES_WITH = (
    select(func.count())
    .select_from(revisions)
    .where(
        revisions.c.template == bindparam("name"),
        ~select(_newer.c.uuid)
        .where(
            _newer.c.profile_uuid == revisions.c.profile_uuid, _newer.c.number > revisions.c.number
        )
        .correlate(revisions)
        .exists(),
    )
)


class SqlTemplates(SqlStore[Template], TemplateStore):
    """Templates, by uuid."""

    records = TEMPLATES

    async def add(self, entity: Template) -> None:
        await super().add(entity)
        await self._connection.flush()

    async def variants(self, name: str) -> list[Template]:
        return self._entities(await self._connection.fetch_all(self._held(_VARIANTS), name=name))

    async def profiles_with(self, name: str) -> int:
        return int((await self._connection.fetch_all(_PROFILES_WITH, name=name))[0][0])

    def _row_of(self, entity: Template) -> dict[str, Any]:
        row = super()._row_of(entity)
        row["variant"] = "\n".join((entity.name, entity.model or "", entity.software_type or ""))
        return row


KEPT = 10
"""Number of texts of a phone that are kept, besides those that are needed."""

_CONTENT = SealedColumn(renderings, "content")
_OF_PHONE = (
    select(
        *(renderings.c.uuid, renderings.c.profile_uuid, renderings.c.size),
        *(_CONTENT.key_id, _CONTENT.sealed),
    )
    .where(renderings.c.mac == bindparam("mac"))
    .order_by(renderings.c.number.desc())
)
_ADD = insert(renderings)
_USE_AGAIN = (
    update(renderings)
    .where(renderings.c.uuid == bindparam("the_uuid"))
    .values(number=bindparam("the_number"))
)
_KEEP_NUMBERS = (
    update(deployments)
    .where(deployments.c.uuid == bindparam("the_uuid"))
    .values(numbers=bindparam("the_numbers"))
)
_REMOVE = delete(renderings).where(renderings.c.uuid == bindparam("the_uuid"))


class SqlRenderings(SqlQueries, RenderingStore):
    """Rendered texts, by phone; a row has the uuid of the first deployment with its text."""

    async def keep(
        self, deployment: Deployment, rendered: Rendered, needed: Sequence[Deployment]
    ) -> None:
        numbers = json_text(list(dict.fromkeys(line.number for line in rendered.lines)))
        await self._connection.execute(_KEEP_NUMBERS, the_uuid=deployment.uuid, the_numbers=numbers)
        rows = await self._connection.fetch_all(_OF_PHONE, mac=deployment.mac)
        same = next((row for row in rows if self._is_of(row, deployment)), None)
        if same is not None:
            await self._connection.fetch_all(
                _USE_AGAIN, the_uuid=same[0], the_number=deployment.number
            )
        else:
            row = {"uuid": deployment.uuid, "mac": deployment.mac, "number": deployment.number}
            row |= {"profile_uuid": deployment.profile_uuid, "size": deployment.size}
            row |= _CONTENT.seal(
                self._connection.box, msgspec.json.encode(rendered), deployment.uuid
            )
            await self._connection.fetch_all(_ADD, **row)
        for old in [row for row in rows if row is not same][KEPT - 1 :]:
            if not any(self._is_of(old, one) for one in needed):
                await self._connection.fetch_all(_REMOVE, the_uuid=old[0])

    async def of(self, deployment: Deployment) -> Rendered | None:
        for row in await self._connection.fetch_all(_OF_PHONE, mac=deployment.mac):
            if self._is_of(row, deployment):
                return self._opened(row)
        return None

    def _opened(self, row: Row) -> Rendered:
        uuid, _, _, key_id, data = row
        content = _CONTENT.open(self._connection.box, key_id, data, uuid)
        return msgspec.json.decode(content, type=Rendered)

    def _is_of(self, row: Row, deployment: Deployment) -> bool:
        """Whether the row has the text of a deployment. Only texts of the same size are read."""
        if (row[1], row[2]) != (deployment.profile_uuid, deployment.size):
            return False
        return hashlib.sha256(self._opened(row).text.encode()).hexdigest() == deployment.sha256


class TemplateStores:
    """The stores of templates and rendered texts."""

    _connection: Connection

    templates = cached_property(lambda self: SqlTemplates(self._connection))
    renderings = cached_property(lambda self: SqlRenderings(self._connection))
    template_uses = cached_property(lambda self: TemplateUses(self))
