"""The application: all routes over the use cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from litestar import Litestar
from litestar.exceptions import HTTPException, ValidationException
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp
from msgspec import Struct

from phoneprov_core.application import UseCases
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_http import errors
from phoneprov_http.bodies import Body
from phoneprov_http.console.routes import console_routes
from phoneprov_http.envelope import EnvelopeResponse
from phoneprov_http.guards import guard
from phoneprov_http.middleware.access_log import AccessLog
from phoneprov_http.middleware.addresses import Network
from phoneprov_http.middleware.authentication import Authentication
from phoneprov_http.middleware.limits import Limits
from phoneprov_http.openapi.config import openapi_config
from phoneprov_http.openapi.schemas import StructSchemas
from phoneprov_http.phone.app import PhonePages
from phoneprov_http.routes.audit import audit_routes
from phoneprov_http.routes.auth import auth_routes
from phoneprov_http.routes.batches import batch_routes
from phoneprov_http.routes.company_directory import company_directory_routes
from phoneprov_http.routes.deployments import deployment_routes
from phoneprov_http.routes.desks import desk_routes
from phoneprov_http.routes.docs import docs_routes
from phoneprov_http.routes.extensions import extension_routes
from phoneprov_http.routes.health import health_routes
from phoneprov_http.routes.imports import import_routes
from phoneprov_http.routes.me import me_routes
from phoneprov_http.routes.permissions import permission_routes, user_permission_routes
from phoneprov_http.routes.personal_directory import personal_directory_routes
from phoneprov_http.routes.phone_profiles import profile_routes
from phoneprov_http.routes.phones import phone_routes
from phoneprov_http.routes.provisioning import provisioning_routes
from phoneprov_http.routes.router import Router
from phoneprov_http.routes.user_extensions import user_extension_routes
from phoneprov_http.routes.users import user_routes
from phoneprov_http.routes.vendor_kem import kem_routes
from phoneprov_http.routes.vendor_phones import vendor_phone_routes
from phoneprov_http.routes.vendor_services import vendor_service_routes
from phoneprov_http.routes.vendor_users import vendor_user_routes


class HttpSettings(Struct, frozen=True, kw_only=True):
    """The settings of the HTTP side. ``largest_body`` is in bytes; ``X-Forwarded-For`` is
    believed from ``trusted_proxies`` only. ``console`` is whether ``/console`` is served,
    ``phone_services`` whether the pages of phones are; ``phone_url`` is the base of the URLs in
    these, empty for the one of the request."""

    largest_body: int = 1024 * 1024
    trusted_proxies: Sequence[Network] = ()
    console: bool = True
    phone_services: bool = True
    phone_url: str = ""


Ready = Callable[[], Awaitable[str | None]]
"""The readiness check: the reason why the service cannot serve, or None."""

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


def api_routes(use_cases: UseCases, settings: HttpSettings) -> Router:
    """Every route of the interface."""
    shared_write = guard(use_cases.require_shared_write)
    return Router(
        "/api/v1",
        route_handlers=[
            auth_routes(use_cases.login, use_cases.register, use_cases.refresh, use_cases.logout),
            me_routes(use_cases.me, use_cases.personal_directory, use_cases.company_directory),
            user_routes(use_cases.users),
            extension_routes(use_cases.extensions),
            permission_routes(use_cases.permissions),
            user_permission_routes(use_cases.user_permissions),
            user_extension_routes(use_cases.links),
            phone_routes(use_cases.phones, shared_write),
            profile_routes(
                use_cases.profiles,
                use_cases.switch_profile,
                use_cases.preview_switch,
                use_cases.read_configurations,
            ),
            import_routes(use_cases.import_text),
            *deployment_routes(use_cases.deployments, use_cases.rollback),
            *desk_routes(use_cases.desks),
            batch_routes(use_cases.batches),
            *provisioning_routes(use_cases.fetches, use_cases.discovered_phones),
            company_directory_routes(use_cases.company_directory, shared_write),
            kem_routes(use_cases.kems, shared_write),
            vendor_service_routes(use_cases.vendor_services, shared_write),
            personal_directory_routes(use_cases.personal_directory),
            vendor_phone_routes(use_cases.vendor_phones, shared_write),
            vendor_user_routes(use_cases.vendor_users),
            audit_routes(use_cases.audit),
        ],
        middleware=_middleware(use_cases, settings),
        dto=Body,
        return_dto=None,
    )


def _middleware(use_cases: UseCases, settings: HttpSettings) -> list[DefineMiddleware]:
    return [
        DefineMiddleware(
            Authentication,
            authenticate=use_cases.authenticate,
            audit=use_cases.audit,
        ),
        DefineMiddleware(Limits, largest_body=settings.largest_body),
    ]


def litestar_app(
    use_cases: UseCases,
    settings: HttpSettings,
    *,
    ready: Ready,
    lifespan: Sequence[Lifespan] = (),
) -> Litestar:
    """The routes, with the exception handlers and the OpenAPI document."""
    routers = [api_routes(use_cases, settings), health_routes(ready), docs_routes()]
    if settings.console:
        routers.extend(console_routes(use_cases, _middleware(use_cases, settings)))
    return Litestar(
        route_handlers=routers,
        exception_handlers={
            PhoneprovError: errors.on_phoneprov_error,
            ValidationException: errors.on_invalid_parameters,
            HTTPException: errors.on_http_exception,
            Exception: errors.on_any_exception,
        },
        response_class=EnvelopeResponse,
        plugins=[StructSchemas()],
        openapi_config=openapi_config(),
        lifespan=list(lifespan),
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
    settings = settings or HttpSettings()
    application = litestar_app(use_cases, settings, ready=ready, lifespan=lifespan)
    app = AccessLog(application, settings.trusted_proxies)
    if not settings.phone_services:
        return app
    return PhonePages(
        app,
        use_cases.phone_services,
        base=settings.phone_url,
        trusted_proxies=settings.trusted_proxies,
    )
