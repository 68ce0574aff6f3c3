"""Phone profiles and the switch. The responses of this group have no ``metadata``."""

from __future__ import annotations

from typing import Annotated

from litestar import Router
from litestar.di import NamedDependency
from litestar.params import JSONBody, QueryParameter

from phoneprov_core.deployments.preview import Preview, PreviewSwitch
from phoneprov_core.deployments.switch import SwitchProfile
from phoneprov_core.profiles.model import (
    NewProfile,
    Profile,
    ProfilePatch,
    Revision,
    Switched,
    SwitchRequest,
)
from phoneprov_core.profiles.reading import (
    LintRequest,
    LintResult,
    ReadConfigurations,
    RevisionDiff,
)
from phoneprov_core.profiles.search import ProfileSearch
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import (
    ProfileDone,
    ProfileEnvelope,
    ProfileList,
    profile_done,
    profile_list,
    profile_record,
)
from phoneprov_http.failures import OF_A_SWITCH, failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, UserUuid, Uuid, page
from phoneprov_http.routes.searches import profile_search, searched

FromRevision = Annotated[
    int | None,
    QueryParameter(
        name="from",
        description="Number of a revision; the one before `to` if absent",
        ge=1,
        le=2**31 - 1,
    ),
]
ToRevision = Annotated[
    int | None,
    QueryParameter(description="Number of a revision; the newest if absent", ge=1, le=2**31 - 1),
]


def profile_routes(
    profiles: Profiles,
    switch: SwitchProfile,
    preview: PreviewSwitch,
    read_configurations: ReadConfigurations,
) -> Router:
    """``/phone-profiles``."""

    @get("/", summary="List phone profiles", dependencies=searched(profile_search))
    async def all_profiles(
        request: ApiRequest,
        wanted: NamedDependency[ProfileSearch],
        limit: Limit = None,
        offset: Offset = None,
    ) -> ProfileList[Profile]:
        """All profiles, oldest first; without level 0 only the caller's own."""
        return profile_list(
            await profiles.all(request.user, page(limit, offset), wanted), "profile"
        )

    @get(
        "/user/{user_uuid:str}",
        summary="List a user's phone profiles",
        responses=failures(403, 404),
    )
    async def profiles_of_user(
        request: ApiRequest, user_uuid: UserUuid, limit: Limit = None, offset: Offset = None
    ) -> ProfileList[Profile]:
        """The profiles of one user, oldest first."""
        return profile_list(
            await profiles.of_user(request.user, user_uuid, page(limit, offset)), "profile"
        )

    @get("/{uuid:str}", summary="Read a phone profile", responses=failures(404))
    async def get_profile(request: ApiRequest, uuid: Uuid) -> ProfileEnvelope[Profile]:
        """One profile."""
        return profile_record("Profile found", await profiles.get(request.user, uuid))

    @post(
        "/",
        summary="Create a phone profile",
        responses=failures(403, 404, conflicts=["too_many_profiles"]),
        opt={RULES: lambda: profiles.rules},
    )
    async def create_profile(
        request: ApiRequest, data: JSONBody[NewProfile]
    ) -> ProfileEnvelope[Profile]:
        """Create a profile. Its XML is stored exactly as it is sent."""
        return profile_record("Profile created", await profiles.create(request.user, data))

    @put(
        "/{uuid:str}",
        summary="Update a phone profile",
        responses=failures(403, 404, conflicts=["too_many_profiles"]),
        opt={RULES: lambda: profiles.rules},
    )
    async def update_profile(
        request: ApiRequest, uuid: Uuid, data: JSONBody[ProfilePatch]
    ) -> ProfileEnvelope[Profile]:
        """Change the fields that are sent; null clears a field."""
        return profile_record("Profile updated", await profiles.update(request.user, uuid, data))

    @delete("/{uuid:str}", summary="Delete a phone profile", responses=failures(404))
    async def delete_profile(request: ApiRequest, uuid: Uuid) -> ProfileDone:
        """Delete a profile. Configurations on phones stay."""
        await profiles.delete(request.user, uuid)
        return profile_done("Profile deleted")

    @post(
        "/switch",
        status_code=200,
        summary="Put a profile onto a phone",
        responses=failures(404, 429, 502, 504, conflicts=OF_A_SWITCH),
    )
    async def switch_profile(
        request: ApiRequest, data: JSONBody[SwitchRequest]
    ) -> ProfileEnvelope[Switched]:
        """Upload the configuration, clear the phone's service session, restart the phone."""
        return profile_record("Profile switched", await switch(request.user, data))

    @post(
        "/switch/preview",
        status_code=200,
        summary="Preview a switch",
        responses=failures(404),
    )
    async def preview_switch(
        request: ApiRequest, data: JSONBody[SwitchRequest]
    ) -> ProfileEnvelope[Preview]:
        """Changes nothing. Shows whether the profile fits, what would change on the phone,
        whether server and phone are reachable, and the findings of the linter."""
        return profile_record("Switch previewed", await preview(request.user, data))

    @get("/{uuid:str}/revisions", summary="List a profile's revisions", responses=failures(404))
    async def revisions_of_profile(
        request: ApiRequest, uuid: Uuid, limit: Limit = None, offset: Offset = None
    ) -> ProfileList[Revision]:
        """The revisions of a profile's configuration, oldest first, without their content."""
        return profile_list(
            await profiles.revisions(request.user, uuid, page(limit, offset)), "revision"
        )

    @post("/lint", status_code=200, summary="Lint a configuration")
    async def lint_configuration(
        request: ApiRequest,  # noqa: ARG001
        data: JSONBody[LintRequest],
    ) -> ProfileEnvelope[LintResult]:
        """Changes nothing. A text that is not well-formed is one finding."""
        result = await read_configurations.lint(data)
        return profile_record(f"{len(result.findings)} finding(s) found", result)

    @get(
        "/{uuid:str}/revisions/diff",
        summary="Compare two revisions of a profile",
        responses=failures(404),
    )
    async def revision_diff(
        request: ApiRequest, uuid: Uuid, from_: FromRevision = None, to: ToRevision = None
    ) -> ProfileEnvelope[RevisionDiff]:
        """A unified diff in which secrets are masked."""
        diff = await read_configurations.difference(request.user, uuid, from_, to)
        return profile_record("Revisions compared", diff)

    return Router(
        "/phone-profiles",
        route_handlers=[
            all_profiles,
            profiles_of_user,
            get_profile,
            create_profile,
            update_profile,
            delete_profile,
            switch_profile,
            preview_switch,
            revisions_of_profile,
            lint_configuration,
            revision_diff,
        ],
        tags=["Phone profiles"],
    )
