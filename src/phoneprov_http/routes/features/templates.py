"""Templates of configurations and their variants; level 0."""

from phoneprov_core.features.batches.plan import Plan, PlanTemplate
from phoneprov_core.features.batches.ports import NoPhones
from phoneprov_core.features.templates.deployed import (
    RenderRequest,
    TemplateDiff,
    Trial,
    TryTemplate,
)
from phoneprov_core.features.templates.model import (
    CheckTemplate,
    CreateTemplate,
    PlanText,
    Template,
    TemplateChanged,
    TemplateCheck,
    TemplateInUse,
    TemplatePatch,
    TemplateText,
    WantedTemplates,
    WantedText,
)
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.inventory.profiles.reading import ComparedRevisions
from phoneprov_core.kernel.errors import AlreadyExists, NotFound
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import READS, ApiRequest, Body, Query, Routes, Uuid, level_0


def template_routes(
    templates: Templates, try_template: TryTemplate, plan_template: PlanTemplate
) -> Routes:
    """``/configuration-templates``."""
    routes = Routes("Configuration templates", guards=[level_0])

    @routes.get("/configuration-templates")
    async def all_templates(
        request: ApiRequest, wanted: Query[WantedTemplates]
    ) -> Listed[Template]:
        """List templates. Every variant, oldest first."""
        return listed(await templates.all(request.user, request.page, wanted), "template")

    @routes.get("/configuration-templates/{uuid:str}")
    async def get_template(request: ApiRequest, uuid: Uuid) -> Envelope[Template]:
        """Read a template. One variant with its text."""
        return record("Template found", await templates.get(request.user, uuid))

    @routes.get("/configuration-templates/{uuid:str}/revisions")
    async def revisions_of_template(request: ApiRequest, uuid: Uuid) -> Listed[TemplateText]:
        """List the revisions of a template. Oldest first, without their texts."""
        return listed(await templates.revisions(request.user, uuid, request.page), "revision")

    @routes.get("/configuration-templates/{uuid:str}/revisions/diff")
    async def template_diff(
        request: ApiRequest, uuid: Uuid, wanted: Query[ComparedRevisions]
    ) -> Envelope[TemplateDiff]:
        """Compare two revisions of a template. A unified diff of the texts as they are."""
        diff = await try_template.difference(request.user, uuid, wanted.from_, wanted.to)
        return record("Revisions compared", diff)

    @routes.get("/configuration-templates/{uuid:str}/revisions/text")
    async def revision_of_template(
        request: ApiRequest, uuid: Uuid, wanted: Query[WantedText]
    ) -> Envelope[TemplateText]:
        """Read a revision of a template. With its text. To restore a revision, update the template
        with this text, which becomes a new revision."""
        return record("Revision found", await templates.revision(request.user, uuid, wanted.number))

    @routes.post("/configuration-templates", raises=[AlreadyExists])
    async def create_template(
        request: ApiRequest, data: Body[CreateTemplate]
    ) -> Envelope[Template]:
        """Create a template. If the name exists, a further variant of this template. Checks the
        text."""
        return record("Template created", await templates.create(request.user, data))

    @routes.put(
        "/configuration-templates/{uuid:str}",
        raises=[AlreadyExists, TemplateChanged, TemplateInUse],
    )
    async def update_template(
        request: ApiRequest, uuid: Uuid, data: Body[TemplatePatch]
    ) -> Envelope[Template]:
        """Update a template. Change the fields that are sent; null clears a field. Phones keep
        their configurations until they are switched."""
        return record("Template updated", await templates.update(request.user, uuid, data))

    @routes.delete("/configuration-templates/{uuid:str}", raises=[TemplateInUse])
    async def delete_template(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a template. Deletes one variant; the last variant only if no profile uses the
        template."""
        await templates.delete(request.user, uuid)
        return done("Template deleted")

    @routes.post("/configuration-templates/check", status_code=200, opt=READS)
    async def check_template(
        request: ApiRequest, data: Body[CheckTemplate]
    ) -> Envelope[TemplateCheck]:
        """Check a template. Changes nothing. Finds wrong syntax, unsupported constructs and unknown
        names, with line and column."""
        result = await templates.check(request.user, data)
        return record(f"{len(result.findings)} finding(s) found", result)

    @routes.post(
        "/configuration-templates/{uuid:str}/render", status_code=200, opt=READS, raises=[NotFound]
    )
    async def render_template(
        request: ApiRequest, uuid: Uuid, data: Body[RenderRequest]
    ) -> Envelope[Trial]:
        """Render a template for a profile and a phone. Changes nothing. Secrets are masked."""
        return record("Template rendered", await try_template(request.user, uuid, data))

    @routes.post(
        "/configuration-templates/{uuid:str}/plan", status_code=200, opt=READS,
        raises=[NotFound, NoPhones],
    )  # fmt: skip
    async def plan_template_text(
        request: ApiRequest, uuid: Uuid, data: Body[PlanText]
    ) -> Envelope[Plan]:
        """Plan a template. Changes nothing. Shows the phones whose configuration would change, with
        the text in the request or else with the stored text, in groups with the same
        difference."""
        result = await plan_template(request.user, uuid, data)
        return record(f"{result.changed} phone(s) would change", result)

    return routes
