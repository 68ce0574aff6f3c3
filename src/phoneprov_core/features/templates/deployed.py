"""Templates in deployments and trials: rendering and storing the text of a request, and the check
of rights that its user has lost."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec.structs import replace

from phoneprov_core.features.templates.model import MOST_ELEMENTS, Body
from phoneprov_core.features.templates.recipes import (
    LinesOfUsers,
    Recipe,
    RecipeTransaction,
    Rendering,
    lines_of,
    recipe_of,
)
from phoneprov_core.features.templates.use_cases import TemplatesTransaction
from phoneprov_core.inventory.configuration.comparison import Compare, Comparison, masked
from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.configuration.well_formed import Element, walk
from phoneprov_core.inventory.extensions import CHAN_PJSIP, CHAN_SIP
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import SwitchRequest, TemplateRevision
from phoneprov_core.inventory.profiles.reading import ProfilesTransaction
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted, schema
from phoneprov_core.kernel.ports import ReadAndWrite, Store
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.access import visible
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.deployments.ports import (
    DeploymentsTransaction,
    TemplateSource,
    UsedLine,
    rollback_target,
    secrets_of,
)
from phoneprov_core.switching.deployments.records import Participant
from phoneprov_core.switching.errors import RightsChanged, TemplateFails


class RenderRequest(SwitchRequest, frozen=True, kw_only=True):
    """A profile, whose owner and values are given to the template, and a phone; and the text that
    is typed for the template and not saved yet."""

    body: Annotated[Body, schema("A text in place of the stored one")] | None = None


class Trial(Redacted, frozen=True):
    """A rendered configuration."""

    configuration: (
        Annotated[
            str,
            SECRET,
            schema("The configuration, secrets shown as `***`; null if the template fails"),
        ]
        | None
    )
    findings: Annotated[
        tuple[Finding, ...], schema("Findings of the linter; one error if the template fails")
    ]


class TemplateDiff(Redacted, frozen=True, rename={"from_": "from"}):
    """The difference of two revisions of a template."""

    from_: TemplateRevision
    to: TemplateRevision
    diff: Annotated[
        str, SECRET, schema("Unified diff of the texts as they are, empty if the two are equal")
    ]


class TrialTransaction(ProfilesTransaction, RecipeTransaction, TemplatesTransaction, Protocol):
    """Stores that a trial reads."""

    @property
    def users(self) -> Store[User]: ...
    @property
    def phones(self) -> Store[Phone]: ...


@dataclass(frozen=True)
class TryTemplate:
    """Renders a template, and compares its texts; requires level 0."""

    database: ReadAndWrite[TrialTransaction]
    rendering: Rendering
    compare: Compare

    async def __call__(self, actor: Actor, uuid: str, request: RenderRequest) -> Trial:
        """Raises ``NotFound`` if template, profile or phone do not exist, and ``Unavailable``."""
        require_superadmin(actor)
        if request.body is not None:
            faults = await self.rendering.renderer.check(request.body)
            if faults:
                return Trial(None, tuple(faults))
        async with self.database.read() as tx:
            template = require(await tx.templates.find(known_id(uuid)), "template")
            if request.body is not None:
                template = replace(template, body=request.body)
            profile = await visible(actor, tx.profiles, request.profile_uuid, "profile")
            phone = require(await tx.phones.find(request.mac), "phone")
            newest = require(await tx.revisions.newest(profile.uuid), "profile")
            content = require(await tx.revisions.content(newest.uuid), "profile")
            values = {} if content.template is None else content.values
            recipe = await recipe_of(
                tx, template, values, profile.user_uuid, phone, profile.software_type
            )
        try:
            rendered = await self.rendering(recipe)
        except TemplateFails as failure:
            place = failure.line, failure.column
            finding = Finding(Severity.ERROR, *place, failure.code, failure.message)
            return Trial(None, (finding,))
        secrets = secrets_of(rendered)
        compared = await self.compare(
            Comparison(
                old=None, new=rendered.text, mac=phone.mac, family=recipe.family,
                new_secrets=secrets,
            )
        )  # fmt: skip
        return Trial(masked(rendered.text, known=secrets), compared.findings)

    async def difference(
        self, actor: Actor, uuid: str, from_: int | None = None, to: int | None = None
    ) -> TemplateDiff:
        """The difference of two texts of a variant. ``to`` is the newest if None, ``from_`` the
        revision before ``to``. Raises ``NotFound``, and ``Unavailable``."""
        require_superadmin(actor)
        texts = []
        async with self.database.read() as tx:
            template = require(await tx.templates.find(known_id(uuid)), "template")
            to = to or template.revision
            from_ = from_ or max(1, to - 1)
            for number in (from_, to):
                found = await tx.template_texts.find_text(template.uuid, number)
                texts.append(require(found, "revision").body or "")
        old, new = texts
        compared = await self.compare(
            Comparison(
                old=old, new=new, old_label=f"revision {from_}", new_label=f"revision {to}",
                is_template=True,
            )
        )  # fmt: skip
        return TemplateDiff(from_, to, compared.diff or "")


class NumberedExtensions(Protocol):
    """The part of the store of lines that finds the extension of a number."""

    async def uuid_of(self, number: str, kind: str) -> str | None:
        """The uuid of the active extension with exactly this number and type, or None."""


class TextsTransaction(DeploymentsTransaction, LinesOfUsers, Protocol):
    """Stores that the texts of deployments need."""

    @property
    def lines(self) -> NumberedExtensions: ...


_FAILS = "The template of this profile fails for this phone; ask an administrator to preview it."


@dataclass(frozen=True)
class RenderedTexts:
    """Renders the texts of requests; the port ``Texts``."""

    rendering: Rendering

    @property
    def largest(self) -> int:
        """Maximum size of a configuration in bytes."""
        return self.rendering.largest

    async def __call__(self, request: DeploymentRequest) -> DeploymentRequest:
        """The request with its text. Raises ``TemplateFails``. For a caller by right the error does
        not name the fault, which quotes the text."""
        recipe = request.part(Recipe)
        if recipe is None:
            return request
        template = recipe.template
        try:
            rendered = await self.rendering(recipe)
        except TemplateFails:
            if request.by_right:
                raise TemplateFails(_FAILS) from None
            raise
        source = TemplateSource(template.uuid, template.revision, template.name, rendered)
        return replace(request.without(Recipe), cnf_xml=rendered.text, source=source)

    def with_values(
        self, request: DeploymentRequest, values: dict[str, str]
    ) -> DeploymentRequest | None:
        """The request with other values for its template; None without one."""
        recipe = request.part(Recipe)
        return None if recipe is None else request.having(replace(recipe, values=values))


class KeepTexts(Participant[TextsTransaction]):
    """Keeps the text of each deployment that a template made, and refuses an earlier text whose
    user lost a line in it."""

    async def requested(self, tx: TextsTransaction, request: DeploymentRequest) -> None:
        """Raises ``RightsChanged``."""
        if request.checks_rights:
            await require_rights(tx, request)

    async def begun(
        self, tx: TextsTransaction, request: DeploymentRequest, record: Deployment
    ) -> None:
        """Keep the text, and the texts that a rollback of the phone needs."""
        if request.source is None:
            return
        now_there = await tx.deployments.current(record.mac)
        target = await rollback_target(tx.deployments, record.mac)
        needed = [one for one in (now_there, target) if one is not None]
        await tx.renderings.keep(record, request.source.rendered, needed)


async def require_rights(tx: TextsTransaction, request: DeploymentRequest) -> None:
    """Raises ``RightsChanged`` if the owner of the profile is not active, or does not have a line
    that the text was rendered with. In a typed text a line counts only if it has the number and the
    password of an extension in use."""
    owner = request.profile.user_uuid
    user = await tx.users.find(owner)
    if user is None or not user.is_active:
        name = user.username if user else request.profile.name
        raise RightsChanged(f"The user of this configuration, {name}, is not active.")
    rendered = request.source.rendered if request.source else None
    wanted = rendered.lines if rendered else await _lines_in(tx, request.cnf_xml)
    if not wanted:
        return
    held = {line.extension: line.password for line in await lines_of(tx, owner)}
    lost = dict.fromkeys(
        line.number
        for line in wanted
        if line.number not in held or line.password not in {None, held[line.number]}
    )
    if lost:
        some = "the number" if len(lost) == 1 else "the numbers"
        raise RightsChanged(
            f"This configuration was made with {some} {', '.join(lost)}, which its user no longer "
            "has, or has with another password."
        )


async def _lines_in(tx: TextsTransaction, cnf_xml: str) -> tuple[UsedLine, ...]:
    """The lines of a typed text that would register: number and password of an extension."""
    typed: list[dict[str, str]] = []

    def on_end(element: Element) -> None:
        above = element.parent
        if element.name == "line":
            typed.append(fields.pop(id(element), {}))
        elif above is not None and above.name == "line":
            fields.setdefault(id(above), {})[element.name] = element.text.strip()

    fields: dict[int, dict[str, str]] = {}
    walk(cnf_xml.encode(), on_end)
    found = []
    for line in typed[:MOST_ELEMENTS]:
        number = line.get("authName") or line.get("name") or ""
        password = line.get("authPassword") or ""
        for kind in (CHAN_PJSIP, CHAN_SIP) if number and password else ():
            uuid = await tx.lines.uuid_of(number, kind)
            extension = await tx.extensions.find(uuid) if uuid else None
            if extension is not None and extension.password == password:
                found.append(UsedLine(number, password))
    return tuple(found)
