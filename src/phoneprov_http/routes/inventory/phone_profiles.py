"""Configurations and the switch onto a phone; the owner or level 0. Helpdesks switch."""

from phoneprov_core.inventory.profiles.model import (
    CreateProfile,
    PreviewRequest,
    Profile,
    ProfilePatch,
    Revision,
    Switched,
    SwitchRequest,
)
from phoneprov_core.inventory.profiles.reading import (
    ComparedRevisions,
    LintRequest,
    LintResult,
    ReadConfigurations,
    RevisionDiff,
)
from phoneprov_core.inventory.profiles.use_cases import (
    ChangedMeanwhile,
    DefaultOfDesks,
    ProfileDeletion,
    Profiles,
    ProfileSearch,
    TemplateNotShared,
    TooManyProfiles,
)
from phoneprov_core.kernel.errors import Forbidden, NotFound
from phoneprov_core.switching.deployments.deploy import SwitchProfile
from phoneprov_core.switching.deployments.preview import Preview, PreviewSwitch
from phoneprov_core.switching.errors import (
    OF_A_SWITCH,
    ProfileNotAllowed,
    TemplateFails,
    TooManySwitches,
)
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Bare, BareList, bare_list
from phoneprov_http.routes.handlers import READS, ApiRequest, Body, Query, Routes, UserUuid, Uuid


def profile_routes(
    profiles: Profiles,
    switch: SwitchProfile,
    preview: PreviewSwitch,
    read_configurations: ReadConfigurations,
) -> Routes:
    """``/phone-profiles``."""
    routes = Routes("Phone profiles")

    @routes.get("/phone-profiles")
    async def all_profiles(request: ApiRequest, wanted: Query[ProfileSearch]) -> BareList[Profile]:
        """List phone profiles. Oldest first; without level 0 only the caller's own."""
        return bare_list(await profiles.all(request.user, request.page, wanted), "profile")

    @routes.get("/phone-profiles/user/{user_uuid:str}", raises=[Forbidden])
    async def profiles_of_user(request: ApiRequest, user_uuid: UserUuid) -> BareList[Profile]:
        """List a user's phone profiles. Oldest first."""
        return bare_list(await profiles.of_user(request.user, user_uuid, request.page), "profile")

    @routes.get("/phone-profiles/{uuid:str}")
    async def get_profile(request: ApiRequest, uuid: Uuid) -> Bare[Profile]:
        """Read a phone profile."""
        return Bare(True, "Profile found", await profiles.get(request.user, uuid))

    @routes.post(
        "/phone-profiles",
        opt={RULES: lambda: profiles.rules},
        raises=[Forbidden, TemplateNotShared, NotFound, TooManyProfiles],
    )
    async def create_profile(request: ApiRequest, data: Body[CreateProfile]) -> Bare[Profile]:
        """Create a phone profile. Its XML is stored exactly as it is sent."""
        return Bare(True, "Profile created", await profiles.create(request.user, data))

    @routes.put(
        "/phone-profiles/{uuid:str}",
        opt={RULES: lambda: profiles.rules},
        raises=[Forbidden, TemplateNotShared, TooManyProfiles, ChangedMeanwhile],
    )
    async def update_profile(
        request: ApiRequest, uuid: Uuid, data: Body[ProfilePatch]
    ) -> Bare[Profile]:
        """Update a phone profile. Change the fields that are sent; null clears a field. With
        `revision`, only if this is the newest revision."""
        return Bare(True, "Profile updated", await profiles.update(request.user, uuid, data))

    @routes.delete("/phone-profiles/{uuid:str}", raises=[DefaultOfDesks])
    async def delete_profile(
        request: ApiRequest, uuid: Uuid, wanted: Query[ProfileDeletion]
    ) -> Bare[None]:
        """Delete a phone profile. Configurations on phones stay. The default profile of desks is
        deleted only with ``force``."""
        await profiles.delete(request.user, uuid, wanted)
        return Bare(True, "Profile deleted", None)

    @routes.post("/phone-profiles/switch", status_code=200, raises=[NotFound, *OF_A_SWITCH])
    async def switch_profile(request: ApiRequest, data: Body[SwitchRequest]) -> Bare[Switched]:
        """Put a profile onto a phone. Upload the configuration, clear the phone's service session,
        restart the phone."""
        return Bare(True, "Profile switched", await switch(request.user, data))

    @routes.post(
        "/phone-profiles/switch/preview",
        status_code=200,
        opt=READS,
        raises=[NotFound, TooManySwitches, TemplateFails, ProfileNotAllowed],
    )
    async def preview_switch(request: ApiRequest, data: Body[PreviewRequest]) -> Bare[Preview]:
        """Preview a switch. Changes nothing. Shows whether the profile fits the phone, the changes
        of its configuration, whether server and phone are reachable, and the findings of the
        linter."""
        return Bare(True, "Switch previewed", await preview(request.user, data))

    @routes.get("/phone-profiles/{uuid:str}/revisions")
    async def revisions_of_profile(request: ApiRequest, uuid: Uuid) -> BareList[Revision]:
        """List a profile's revisions. The revisions of a profile's configuration, oldest first,
        without their content."""
        return bare_list(await profiles.revisions(request.user, uuid, request.page), "revision")

    @routes.post("/phone-profiles/lint", status_code=200, opt=READS)
    async def lint_configuration(data: Body[LintRequest]) -> Bare[LintResult]:
        """Lint a configuration. Changes nothing. A text that is not well-formed is one finding."""
        result = await read_configurations.lint(data)
        return Bare(True, f"{len(result.findings)} finding(s) found", result)

    @routes.get("/phone-profiles/{uuid:str}/revisions/diff")
    async def revision_diff(
        request: ApiRequest, uuid: Uuid, wanted: Query[ComparedRevisions]
    ) -> Bare[RevisionDiff]:
        """Compare two revisions of a profile. A unified diff in which secrets are masked."""
        diff = await read_configurations.difference(request.user, uuid, wanted.from_, wanted.to)
        return Bare(True, "Revisions compared", diff)

    return routes
