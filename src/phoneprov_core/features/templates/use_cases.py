"""Templates: superadmins read and change them; ports of their store and of rendering."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Protocol

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.features.templates.model import (
    CheckTemplate,
    CreateTemplate,
    Template,
    TemplateChanged,
    TemplateCheck,
    TemplateInUse,
    TemplatePatch,
    TemplateText,
    WantedTemplates,
)
from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.inventory.profiles.use_cases import MOST_REVISIONS
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import applied, invalid, record_of, require_newest, wrong
from phoneprov_core.kernel.errors import AlreadyExists, Problem, require
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    Rows,
    Store,
    listing,
)
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.switching.deployments.ports import Rendered


class TemplateValues(Redacted, frozen=True):
    """The input of a template; the names are declared in ``language``. ``secret`` names the values
    that are masked, besides the passwords of lines."""

    objects: Annotated[Mapping[str, Mapping[str, str]], SECRET]
    lists: Annotated[Mapping[str, Sequence[Mapping[str, str | bool]]], SECRET]
    values: Annotated[Mapping[str, str], SECRET]
    secret: frozenset[str] = frozenset()


class TemplateFault(Exception):
    """A template that cannot be rendered with its input: line and column in its text, from 1, and
    the reason as a sentence."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.column, self.reason = line, column, reason


class Renderer(Protocol):
    """Checks and renders the bodies of templates. Every given text is escaped for XML, in every
    position. Cost and memory are bounded by ``language`` for every body: no construct reaches
    Python, a file or a process."""

    async def check(self, body: str) -> tuple[Finding, ...]:
        """What prevents a body from being used: syntax, constructs that are not part of the
        language, names that are not given. Each finding is an error with its position; empty for a
        good body."""

    async def render(self, body: str, given: TemplateValues, largest: int) -> Rendered:
        """The text of at most ``largest`` bytes. Line ends of the body are kept. Raises
        ``TemplateFault`` for a body that ``check`` refuses, for a name that is not given, for
        control characters in a given text, and beyond a bound."""


class TemplateStore(Store[Template], Protocol):
    """Templates, by uuid. Name, model and software type together are unique: ``add`` and ``put``
    raise ``AlreadyExists`` before they return. The name is the owner of its variants."""

    async def variants(self, name: str) -> list[Template]:
        """The variants of this exact name, oldest first. In a writing transaction no other
        transaction changes them until this one ends."""

    async def profiles_with(self, name: str) -> int:
        """Number of profiles whose newest revision names this template."""


class TemplateTextStore(Rows[TemplateText], Protocol):
    """The texts that variants have and had. They are deleted with their variant, which is their
    owner. Lists are by number, and leave the texts out."""

    async def add(self, text: TemplateText) -> None:
        """Store a text, which is never changed. Raises ``Conflict`` (code ``already_exists``) if
        the variant has one of this number, ``NotFound`` if the variant does not exist."""

    async def find_text(self, template_uuid: str, number: int) -> TemplateText | None:
        """The text of this number, or None."""

    async def remove_until(self, template_uuid: str, number: int) -> None:
        """Remove the texts of a variant with this number and smaller ones."""


_PIECE = 16
_SHOWN = 5
"""Maximum number of findings that an error names."""


class TemplatesTransaction(Protocol):
    """Stores that the use cases of templates use."""

    @property
    def templates(self) -> TemplateStore: ...
    @property
    def template_texts(self) -> TemplateTextStore: ...


@dataclass(frozen=True)
class Templates:
    """Create, read, change and delete templates; every use case requires level 0."""

    database: ReadAndWrite[TemplatesTransaction]
    renderer: Renderer
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    largest_xml: int = LARGEST
    most_revisions: int = MOST_REVISIONS

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
            return require(await tx.templates.find(known_id(uuid)), "template")

    async def revisions(self, actor: Actor, uuid: str, page: Page = None) -> Listing[TemplateText]:
        """The revisions of a variant, oldest first, without their texts. Raises ``NotFound``."""
        template = await self.get(actor, uuid)
        return await listing(
            self.database.read, lambda tx: tx.template_texts, page, owner=template.uuid
        )

    async def revision(self, actor: Actor, uuid: str, number: int | None = None) -> TemplateText:
        """A revision of a variant with its text, the newest without a number. Raises
        ``NotFound``."""
        template = await self.get(actor, uuid)
        async with self.database.read() as tx:
            found = await tx.template_texts.find_text(template.uuid, number or template.revision)
            return require(found, "revision")

    async def check(self, actor: Actor, request: CheckTemplate) -> TemplateCheck:
        """The findings in a text. Changes nothing."""
        require_superadmin(actor)
        return TemplateCheck(await self.renderer.check(request.body))

    async def create(self, actor: Actor, new: CreateTemplate) -> Template:
        """Raises ``Invalid`` for a text with findings; ``Conflict`` if there is this variant."""
        require_superadmin(actor)
        await require_good(self.renderer, new.body, self.largest_xml)
        now = timestamp(self.clock())
        template = record_of(
            Template, new, uuid=self.new_id(), revision=1, created_at=now, updated_at=now
        )
        async with self.database.write(by=actor) as tx:
            await _added(tx.templates.add(template), template)
            await tx.template_texts.add(self._text(actor, template))
        return template

    async def update(self, actor: Actor, uuid: str, patch: TemplatePatch) -> Template:
        """Raises ``NotFound``, and as ``create``; ``Conflict`` if ``revision`` is not the newest,
        and if another name would leave profiles without their template."""
        require_superadmin(actor)
        name = (await self.get(actor, uuid)).name
        if patch.body is not UNSET:
            await require_good(self.renderer, patch.body, self.largest_xml)
        async with self.database.write(by=actor) as tx:
            variants, before = await _held(tx.templates, name, uuid)
            require_newest(before.revision, patch.revision, "template", TemplateChanged)
            changes = replace(patch, revision=UNSET)
            is_same = patch.body in {UNSET, before.body}
            template = applied(
                before,
                changes,
                revision=before.revision if is_same else before.revision + 1,
                updated_at=timestamp(self.clock()),
            )
            if template.name != before.name:
                await _require_unused(tx.templates, variants, before)
            await _added(tx.templates.put(template), template)
            if not is_same:
                await tx.template_texts.add(self._text(actor, template))
                if self.most_revisions:
                    oldest = template.revision - self.most_revisions
                    await tx.template_texts.remove_until(template.uuid, oldest)
        return template

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``; ``TemplateInUse`` for the last variant that profiles use."""
        require_superadmin(actor)
        name = (await self.get(actor, uuid)).name
        async with self.database.write(by=actor) as tx:
            variants, template = await _held(tx.templates, name, uuid)
            await _require_unused(tx.templates, variants, template)
            await tx.templates.remove(template.uuid)

    def _text(self, actor: Actor, template: Template) -> TemplateText:
        return TemplateText(
            uuid=self.new_id(),
            template_uuid=template.uuid,
            number=template.revision,
            size=len(template.body.encode()),
            created_at=template.updated_at,
            created_by=actor.user_uuid,
            body=template.body,
        )


async def require_good(renderer: Renderer, body: str, largest: int) -> None:
    """Raises ``Invalid`` for a text with findings, and for one of more than ``largest`` bytes."""
    if len(body.encode("utf-8", "replace")) > largest:
        raise wrong("body", f"must be at most {largest} bytes long")
    findings = await renderer.check(body)
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
    """The variants of a name, locked, and the variant with this uuid. Raises ``NotFound``."""
    variants = await templates.variants(name)
    same = next((one for one in variants if one.uuid == known_id(uuid)), None)
    return variants, require(same, "template")


async def _require_unused(
    templates: TemplateStore, variants: list[Template], template: Template
) -> None:
    count = 0 if len(variants) > 1 else await templates.profiles_with(template.name)
    if count:
        profiles = "1 profile uses" if count == 1 else f"{count} profiles use"
        raise TemplateInUse(
            f"{profiles} the template {template.name}, and this is its last variant."
        )
