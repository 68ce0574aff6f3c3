"""Templates in SQL; their texts are encrypted."""

from typing import Any

from sqlalchemy import bindparam, func, select

from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.switching import (
    TEMPLATES,
    profile_revisions as revisions,
    templates,
)
from phoneprov_core.templates.model import Template
from phoneprov_core.templates.ports import TemplateStore

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
