"""Templates in deployments: the text of a request, its keeping, and rights that were lost."""

from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from phoneprov_core.features.templates.model import MOST_ELEMENTS
from phoneprov_core.features.templates.recipes import LinesOfUsers, Recipe, Rendering, lines_of
from phoneprov_core.inventory.configuration.elements import Element, walk
from phoneprov_core.inventory.extensions import CHAN_PJSIP, CHAN_SIP
from phoneprov_core.switching.deployments.model import Deployment, RightsChanged
from phoneprov_core.switching.deployments.order import DeploymentRequest, rollback_target
from phoneprov_core.switching.deployments.participants import Participant
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction
from phoneprov_core.switching.deployments.texts import TemplateSource, UsedLine


class NumberedExtensions(Protocol):
    """The part of the store of lines that says which extension has a number."""

    async def uuid_of(self, number: str, kind: str) -> str | None:
        """The uuid of the active extension with exactly this number and type, or None."""


class TextsTransaction(DeploymentsTransaction, LinesOfUsers, Protocol):
    """Stores that the texts of deployments need."""

    @property
    def lines(self) -> NumberedExtensions: ...


@dataclass(frozen=True)
class RenderedTexts:
    """Renders the texts of requests; the port ``Texts``."""

    rendering: Rendering

    @property
    def largest(self) -> int:
        """Maximum size of a configuration in bytes."""
        return self.rendering.largest

    async def __call__(self, request: DeploymentRequest) -> DeploymentRequest:
        """The request with its text. Raises ``TemplateFails``."""
        recipe = request.part(Recipe)
        if recipe is None:
            return request
        template, rendered = recipe.template, await self.rendering(recipe)
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
        """Keep the text, and those that a rollback of the phone needs."""
        if request.source is None:
            return
        now_there = await tx.deployments.current(record.mac)
        target = await rollback_target(tx.deployments, record.mac)
        needed = [one for one in (now_there, target) if one is not None]
        await tx.renderings.keep(record, request.source.rendered, needed)


async def require_rights(tx: TextsTransaction, request: DeploymentRequest) -> None:
    """Raises ``RightsChanged`` if the owner of the profile is not active, or does not have a line
    that the text was rendered with. A text that was typed names a line that is taken away if it
    has the number and the password of an extension that is in use."""
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
