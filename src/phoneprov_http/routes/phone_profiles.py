"""Phone profiles and the switch. The replies of this group carry no ``metadata``."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

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
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_http.describe import OF_A_SWITCH, described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def profile_routes(
    requests: Requests, profiles: Profiles, switch: SwitchProfile, preview: PreviewSwitch
) -> Router:
    """``/phone-profiles``."""

    @get(
        "/",
        opt=described(
            "List phone profiles",
            "2 profile(s) found",
            reply=list[Profile],
            listed=True,
            metadata=False,
        ),
    )
    async def all_profiles(request: AnyRequest) -> ASGIResponse:
        """Every profile, oldest first; without level 0 only one's own."""
        actor = await requests.caller(request)
        return await listed(await profiles.all(actor, page(request)), "profile", metadata=False)

    @get(
        "/user/{user_uuid:str}",
        opt=described(
            "List a user's phone profiles",
            "2 profile(s) found",
            reply=list[Profile],
            listed=True,
            errors=(403, 404),
            metadata=False,
        ),
    )
    async def profiles_of_user(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """The profiles of one user, oldest first."""
        actor = await requests.caller(request)
        found = await profiles.of_user(actor, user_uuid, page(request))
        return await listed(found, "profile", metadata=False)

    @get(
        "/{uuid:str}",
        opt=described(
            "Read a phone profile", "Profile found", reply=Profile, errors=(404,), metadata=False
        ),
    )
    async def get_profile(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One profile."""
        actor = await requests.caller(request)
        return done("Profile found", await profiles.get(actor, uuid), metadata=False)

    @post(
        "/",
        opt=described(
            "Create a phone profile",
            "Profile created",
            body=NewProfile,
            reply=Profile,
            status=201,
            errors=(403, 404),
            conflicts=("too_many_profiles",),
            metadata=False,
        ),
    )
    async def create_profile(request: AnyRequest) -> ASGIResponse:
        """Keep a profile; its XML is kept exactly as it is sent."""
        actor = await requests.caller(request)
        profile = await profiles.create(actor, await requests.sent(request, NewProfile))
        return created("Profile created", profile, metadata=False)

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a phone profile",
            "Profile updated",
            body=ProfilePatch,
            reply=Profile,
            identifiers=("uuid",),
            errors=(403, 404),
            conflicts=("too_many_profiles",),
            metadata=False,
        ),
    )
    async def update_profile(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent."""
        actor = await requests.caller(request)
        profile = await profiles.update(actor, uuid, await requests.sent(request, ProfilePatch))
        return done("Profile updated", profile, metadata=False)

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete a phone profile", "Profile deleted", errors=(404,), metadata=False),
    )
    async def delete_profile(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a profile; what is on a phone stays there."""
        await profiles.delete(await requests.caller(request), uuid)
        return done("Profile deleted", metadata=False)

    @post(
        "/switch",
        status_code=200,
        opt=described(
            "Put a profile onto a phone",
            "Profile switched",
            body=SwitchRequest,
            reply=Switched,
            errors=(404, 429, 502, 504),
            conflicts=OF_A_SWITCH,
            metadata=False,
        ),
    )
    async def switch_profile(request: AnyRequest) -> ASGIResponse:
        """Deploy the configuration, clear the phone's service session, restart the phone."""
        actor = await requests.caller(request)
        switched = await switch(actor, await requests.sent(request, SwitchRequest))
        return done("Profile switched", switched, metadata=False)

    @post(
        "/switch/preview",
        status_code=200,
        opt=described(
            "See what a switch would do",
            "Switch previewed",
            body=SwitchRequest,
            reply=Preview,
            errors=(404,),
            metadata=False,
        ),
    )
    async def preview_switch(request: AnyRequest) -> ASGIResponse:
        """Touches nothing: whether the profile fits, what would change on the phone, whether
        server and phone can be reached, and what a linter finds in the configuration."""
        actor = await requests.caller(request)
        previewed = await preview(actor, await requests.sent(request, SwitchRequest))
        return done("Switch previewed", previewed, metadata=False)

    @get(
        "/{uuid:str}/revisions",
        opt=described(
            "List a profile's revisions",
            "2 revision(s) found",
            reply=list[Revision],
            listed=True,
            errors=(404,),
            metadata=False,
        ),
    )
    async def revisions_of_profile(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Each configuration the profile has had, oldest first, by its hash."""
        actor = await requests.caller(request)
        revisions = await profiles.revisions(actor, uuid, page(request))
        return await listed(revisions, "revision", metadata=False)

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
        ],
        tags=["Phone profiles"],
    )
