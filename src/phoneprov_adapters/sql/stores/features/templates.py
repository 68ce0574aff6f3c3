"""Templates, and the texts that were rendered, in SQL; both are encrypted."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, func, insert, select, update

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlRows, SqlStore
from phoneprov_adapters.sql.tables.columns import Fields, SealedColumn, json_text
from phoneprov_adapters.sql.tables.switching import (
    TEMPLATES,
    deployments,
    profile_revisions as revisions,
    renderings,
    template_texts,
    templates,
)
from phoneprov_core.features.templates.model import Template, TemplateText
from phoneprov_core.features.templates.recipes import TemplateUses
from phoneprov_core.features.templates.use_cases import TemplateStore, TemplateTextStore
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.ports import Rendered, RenderingStore

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


_TEXT = Fields(TemplateText, template_texts)
_WITHOUT_BODY = [template_texts.c[name] for name in _TEXT.names if name != "body"]
_TEXTS = Query(
    select(*_WITHOUT_BODY),
    (template_texts.c.number, template_texts.c.uuid),
    owner=template_texts.c.template_uuid == bindparam("owner"),
)
_OF_NUMBER = select(*_TEXT.columns).where(
    template_texts.c.template_uuid == bindparam("template_uuid"),
    template_texts.c.number == bindparam("number"),
)
_ADD_TEXT = insert(template_texts)
_REMOVE_TEXTS = delete(template_texts).where(
    template_texts.c.template_uuid == bindparam("template_uuid"),
    template_texts.c.number <= bindparam("last"),
)


def _listed(row: Row) -> TemplateText:
    return TemplateText(**dict(zip((one.name for one in _WITHOUT_BODY), row, strict=True)))


class SqlTemplateTexts(SqlRows[TemplateText], TemplateTextStore):
    """The texts that variants have and had, by number; a list does not open them."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _TEXTS, _listed)

    async def add(self, text: TemplateText) -> None:
        await self._connection.fetch_all(_ADD_TEXT, **_TEXT.row(text, self._connection.box))

    async def find_text(self, template_uuid: str, number: int) -> TemplateText | None:
        if not 0 < number < 2**31:
            return None
        values = {"template_uuid": template_uuid, "number": number}
        row = await self._connection.fetch_one(_OF_NUMBER, **values)
        return None if row is None else _TEXT.read(row, self._connection.box)

    async def remove_until(self, template_uuid: str, number: int) -> None:
        values = {"template_uuid": template_uuid, "last": number}
        await self._connection.fetch_all(_REMOVE_TEXTS, **values)


KEPT = 10
"""Number of texts of a phone that are kept, besides needed texts."""

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
    template_texts = cached_property(lambda self: SqlTemplateTexts(self._connection))
    renderings = cached_property(lambda self: SqlRenderings(self._connection))
    template_uses = cached_property(lambda self: TemplateUses(self))
