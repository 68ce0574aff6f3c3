"""Templates, managed by superadmins."""

from collections.abc import Awaitable
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.configuration.findings import Finding
from phoneprov_core.configuration.well_formed import LARGEST
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import applied, invalid, record_of, require_newest, wrong
from phoneprov_core.kernel.errors import AlreadyExists, Problem, found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, known_id, shown
from phoneprov_core.templates.model import (
    CheckTemplate,
    CreateTemplate,
    Template,
    TemplateChanged,
    TemplateCheck,
    TemplateInUse,
    TemplatePatch,
    WantedTemplates,
)
from phoneprov_core.templates.ports import Renderer, TemplateStore

_PIECE = 16
_SHOWN = 5
"""Maximum number of findings that an error names."""


class TemplatesTransaction(Protocol):
    """Stores that the use cases of templates use."""

    @property
    def templates(self) -> TemplateStore: ...


@dataclass(frozen=True)
class Templates:
    """Create, read, change and delete templates; every use case requires level 0."""

    database: ReadAndWrite[TemplatesTransaction]
    renderer: Renderer
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    largest_xml: int = LARGEST

    async def all(
        self, actor: Actor, page: Page = None, wanted: WantedTemplates | None = None
    ) -> Listing[Template]:
        """Every variant of every template, or of one name, oldest first."""
        require_superadmin(actor)
        name = wanted.name if wanted else None
        return await listing(
            self.database.read, lambda tx: tx.templates, page, owner=name, piece=_PIECE
        )

    async def get(self, actor: Actor, uuid: str) -> Template:
        """Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return found(await tx.templates.find(known_id(uuid)), "template")

    async def check(self, actor: Actor, request: CheckTemplate) -> TemplateCheck:
        """The findings in a text. Changes nothing."""
        require_superadmin(actor)
        return TemplateCheck(await self.renderer.check(request.body))

    async def create(self, actor: Actor, new: CreateTemplate) -> Template:
        """Raises ``Invalid`` for a text with findings; ``Conflict`` if there is this variant."""
        require_superadmin(actor)
        await self._require_good(new.body)
        now = shown(self.clock())
        template = record_of(
            Template, new, uuid=self.new_id(), revision=1, created_at=now, updated_at=now
        )
        async with self.database.write(by=actor) as tx:
            await _added(tx.templates.add(template), template)
        return template

    async def update(self, actor: Actor, uuid: str, patch: TemplatePatch) -> Template:
        """Raises ``NotFound``, and as ``create``; ``Conflict`` if ``revision`` is not the newest,
        and if another name would leave profiles without their template."""
        require_superadmin(actor)
        name = (await self.get(actor, uuid)).name
        if patch.body is not UNSET:
            await self._require_good(patch.body)
        async with self.database.write(by=actor) as tx:
            variants, before = await _held(tx.templates, name, uuid)
            require_newest(before.revision, patch.revision, "template", TemplateChanged)
            changes = replace(patch, revision=UNSET)
            is_same = patch.body in {UNSET, before.body}
            template = applied(
                before,
                changes,
                revision=before.revision if is_same else before.revision + 1,
                updated_at=shown(self.clock()),
            )
            if template.name != before.name:
                await _require_unused(tx.templates, variants, before)
            await _added(tx.templates.put(template), template)
        return template

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``; ``TemplateInUse`` for the last variant that profiles use."""
        require_superadmin(actor)
        name = (await self.get(actor, uuid)).name
        async with self.database.write(by=actor) as tx:
            variants, template = await _held(tx.templates, name, uuid)
            await _require_unused(tx.templates, variants, template)
            await tx.templates.remove(template.uuid)

    async def _require_good(self, body: str) -> None:
        if len(body.encode("utf-8", "replace")) > self.largest_xml:
            raise wrong("body", f"must be at most {self.largest_xml} bytes long")
        findings = await self.renderer.check(body)
        if findings:
            raise invalid([Problem("body", _problem(finding)) for finding in findings[:_SHOWN]])


def _problem(finding: Finding) -> str:
    message = finding.message.rstrip(".")
    return f"is wrong on line {finding.line}, column {finding.column}: {message}"


async def _added(work: Awaitable[None], template: Template) -> None:
    try:
        await work
    except AlreadyExists:
        raise AlreadyExists(
            f"There is a template {template.label} already.",
            problems=(Problem("name", "has a variant for this model and firmware family already"),),
        ) from None


async def _held(templates: TemplateStore, name: str, uuid: str) -> tuple[list[Template], Template]:
    """The variants of a name, locked, and the one of this uuid. Raises ``NotFound``."""
    variants = await templates.variants(name)
    same = next((one for one in variants if one.uuid == known_id(uuid)), None)
    return variants, found(same, "template")


async def _require_unused(
    templates: TemplateStore, variants: list[Template], template: Template
) -> None:
    count = 0 if len(variants) > 1 else await templates.profiles_with(template.name)
    if count:
        profiles = "1 profile uses" if count == 1 else f"{count} profiles use"
        raise TemplateInUse(
            f"{profiles} the template {template.name}, and this is its last variant."
        )
