"""The application: all routes over the use cases they are given."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from litestar import Litestar
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp
from msgspec import Struct

from phoneprov_core.application import UseCases
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_http.errors import (
    on_any_exception,
    on_http_exception,
    on_phoneprov_error,
    refuse_options,
)
from phoneprov_http.frame import Frame
from phoneprov_http.requests import Requests
from phoneprov_http.routes.auth import auth_routes
from phoneprov_http.routes.batches import batch_routes
from phoneprov_http.routes.company_directory import company_directory_routes
from phoneprov_http.routes.deployments import deployment_routes
from phoneprov_http.routes.docs import docs_routes
from phoneprov_http.routes.extensions import extension_routes
from phoneprov_http.routes.health import health_routes
from phoneprov_http.routes.me import me_routes
from phoneprov_http.routes.permissions import permission_routes, user_permission_routes
from phoneprov_http.routes.personal_directory import personal_directory_routes
from phoneprov_http.routes.phone_profiles import profile_routes
from phoneprov_http.routes.phones import phone_routes
from phoneprov_http.routes.router import Router
from phoneprov_http.routes.user_extensions import user_extension_routes
from phoneprov_http.routes.users import user_routes
from phoneprov_http.routes.vendor_kem import kem_routes
from phoneprov_http.routes.vendor_phones import vendor_phone_routes
from phoneprov_http.routes.vendor_services import vendor_service_routes
from phoneprov_http.routes.vendor_users import vendor_user_routes

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class HttpSettings(Struct, frozen=True, kw_only=True):
    """What the HTTP side itself needs to know. ``largest_body`` is in bytes;
    ``X-Forwarded-For`` is believed from ``trusted_proxies`` only."""

    largest_body: int = 1024 * 1024
    trusted_proxies: Sequence[Network] = ()


Ready = Callable[[], Awaitable[str | None]]
"""Answers why the service cannot serve, or None when it can."""

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


def routes(use_cases: UseCases, settings: HttpSettings) -> list[Router]:
    """Every route of the interface."""
    requests = Requests(
        use_cases.authenticate,
        largest_body=settings.largest_body,
        trusted_proxies=settings.trusted_proxies,
    )
    return [
        auth_routes(
            requests, use_cases.login, use_cases.register, use_cases.refresh, use_cases.logout
        ),
        me_routes(
            requests, use_cases.me, use_cases.personal_directory, use_cases.company_directory
        ),
        user_routes(requests, use_cases.users),
        extension_routes(requests, use_cases.extensions),
        permission_routes(requests, use_cases.permissions),
        user_permission_routes(requests, use_cases.user_permissions),
        user_extension_routes(requests, use_cases.links),
        phone_routes(requests, use_cases.phones),
        profile_routes(
            requests, use_cases.profiles, use_cases.switch_profile, use_cases.preview_switch
        ),
        *deployment_routes(requests, use_cases.deployments, use_cases.rollback),
        batch_routes(requests, use_cases.batches),
        company_directory_routes(requests, use_cases.company_directory),
        kem_routes(requests, use_cases.kems),
        vendor_service_routes(requests, use_cases.vendor_services),
        personal_directory_routes(requests, use_cases.personal_directory),
        vendor_phone_routes(requests, use_cases.vendor_phones),
        vendor_user_routes(requests, use_cases.vendor_users),
    ]


def litestar_app(
    use_cases: UseCases,
    settings: HttpSettings,
    *,
    ready: Ready,
    lifespan: Sequence[Lifespan] = (),
) -> Litestar:
    """The routes with the error table behind them."""
    return Litestar(
        route_handlers=[
            Router("/api/v1", route_handlers=routes(use_cases, settings)),
            *health_routes(ready),
            docs_routes(),
        ],
        exception_handlers={
            PhoneprovError: on_phoneprov_error,
            HTTPException: on_http_exception,
            Exception: on_any_exception,
        },
        before_request=refuse_options,
        lifespan=list(lifespan),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
    )


def create_app(
    use_cases: UseCases,
    settings: HttpSettings | None = None,
    *,
    ready: Ready,
    lifespan: Sequence[Lifespan] = (),
) -> ASGIApp:
    """The ASGI application over these use cases."""
    return Frame(
        litestar_app(use_cases, settings or HttpSettings(), ready=ready, lifespan=lifespan)
    )
