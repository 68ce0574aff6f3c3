"""What a template gives for a profile and a phone, without a deployment."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec.structs import replace

from phoneprov_core.features.templates.model import Body
from phoneprov_core.features.templates.recipes import RecipeTransaction, Rendering, recipe_of
from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.configuration.masking import masked
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.inventory.profiles.use_cases import ProfilesTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted, schema
from phoneprov_core.kernel.store import ReadAndWrite, Store
from phoneprov_core.kernel.system import known_id
from phoneprov_core.people.access import require_superadmin, visible
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.model import TemplateFails
from phoneprov_core.switching.deployments.texts import secrets_of


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


class TrialTransaction(ProfilesTransaction, RecipeTransaction, Protocol):
    """Stores that a trial reads."""

    @property
    def users(self) -> Store[User]: ...
    @property
    def phones(self) -> Store[Phone]: ...


@dataclass(frozen=True)
class TryTemplate:
    """Renders a template; requires level 0."""

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
