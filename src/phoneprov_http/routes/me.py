"""What the caller may read of themselves."""

from __future__ import annotations

from litestar import Router, get
from litestar.response.base import ASGIResponse

from phoneprov_core.me.model import MeProfile
from phoneprov_core.me.use_cases import Me
from phoneprov_http.describe import described
from phoneprov_http.replies import done
from phoneprov_http.requests import AnyRequest, Requests


def me_routes(requests: Requests, me: Me) -> Router:
    """``/me``."""

    @get("/", opt=described("Read my account", "User found", reply=MeProfile))
    async def get_me(request: AnyRequest) -> ASGIResponse:
        """The caller's account with its permission and PIN."""
        return done("User found", await me.profile(await requests.caller(request)))

    return Router("/me", route_handlers=[get_me], tags=["Me"])
