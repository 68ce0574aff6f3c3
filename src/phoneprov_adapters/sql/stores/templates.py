"""Templates in SQL; their texts are encrypted."""

from typing import Any

from sqlalchemy import bindparam, func, select

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.sealed import SealedColumn
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.switching import (
    TEMPLATES,
    profile_revisions as revisions,
    templates,
)
from phoneprov_core.templates.model import Template
from phoneprov_core.templates.ports import TemplateStore

_BODY = SealedColumn(templates, "body")
_PLAIN = [name for name in Template.__struct_fields__ if name in templates.c]
_VARIANTS = (
    select(*[templates.c[name] for name in (*_PLAIN, *_BODY.names)])
    .where(templates.c.name == bindparam("name"))
    .order_by(templates.c.created_at, templates.c.uuid)
)
_VARIANTS_AND_HOLD = _VARIANTS.with_for_update()
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

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection)
        self._box = box

    async def add(self, entity: Template) -> None:
        await super().add(entity)
        await self._connection.flush()

    async def variants(self, name: str) -> list[Template]:
        statement = _VARIANTS_AND_HOLD if self._connection.writing else _VARIANTS
        return self._entities(await self._connection.fetch_all(statement, name=name))

    async def profiles_with(self, name: str) -> int:
        return int((await self._connection.fetch_all(_PROFILES_WITH, name=name))[0][0])

    def _row_of(self, entity: Template) -> dict[str, Any]:
        row = super()._row_of(entity)
        row |= _BODY.sealed(self._box, row.pop("body").encode(), entity.uuid)
        row["variant"] = "\n".join((entity.name, entity.model or "", entity.software_type or ""))
        return row

    def _entity_of(self, row: Row) -> Template:
        *plain, key_id, data = row
        fields = dict(zip(_PLAIN, plain, strict=True))
        return Template(
            **fields, body=_BODY.opened(self._box, key_id, data, fields["uuid"]).decode()
        )
