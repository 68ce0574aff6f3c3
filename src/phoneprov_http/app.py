"""The application: all routes over the use cases."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp, Scope

from phoneprov_core.application import UseCases
from phoneprov_core.kernel.actor import require_shared_write
from phoneprov_core.kernel.errors import Forbidden, PhoneprovError
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.values import Network
from phoneprov_http import errors
from phoneprov_http.bodies import Body
from phoneprov_http.console.session import console_routes
from phoneprov_http.envelope import EnvelopeResponse
from phoneprov_http.exchange import Exchange
from phoneprov_http.front import Authentication, Front, require_known_query
from phoneprov_http.openapi.document import openapi_config
from phoneprov_http.phone.app import PhonePages
from phoneprov_http.phone.language import Languages
from phoneprov_http.routes.features.batches import batch_routes
from phoneprov_http.routes.features.desks import desk_routes
from phoneprov_http.routes.features.fleet import fleet_routes
from phoneprov_http.routes.features.joining import joining_routes
from phoneprov_http.routes.features.lines import line_routes
from phoneprov_http.routes.features.serving import provisioning_routes
from phoneprov_http.routes.features.templates import template_routes
from phoneprov_http.routes.features.transfer import transfer_routes
from phoneprov_http.routes.handlers import ApiRequest, guard
from phoneprov_http.routes.inventory.extensions import extension_routes, user_extension_routes
from phoneprov_http.routes.inventory.locations import location_routes
from phoneprov_http.routes.inventory.phone_parts import kem_routes, vendor_phone_routes
from phoneprov_http.routes.inventory.phone_profiles import profile_routes
from phoneprov_http.routes.inventory.phones import phone_routes
from phoneprov_http.routes.inventory.vendor_services import vendor_service_routes
from phoneprov_http.routes.people.audit import audit_routes
from phoneprov_http.routes.people.auth import auth_routes
from phoneprov_http.routes.people.directory import (
    company_directory_routes,
    personal_directory_routes,
)
from phoneprov_http.routes.people.me import me_routes
from phoneprov_http.routes.people.permissions import permission_routes
from phoneprov_http.routes.people.users import user_routes, vendor_user_routes
from phoneprov_http.routes.service import docs_routes, health_routes
from phoneprov_http.routes.switching import deployment_routes


class HttpSettings(Redacted, frozen=True, kw_only=True):
    """The settings of the HTTP side. ``largest_body`` is in bytes; ``X-Forwarded-For`` is
    believed from ``trusted_proxies`` only. ``console`` is whether ``/console`` is served,
    ``provider`` the button of the provider that signs in to it, empty for none, at ``public_url``,
    ``phone_services`` whether the pages of phones are; ``phone_url`` is the base of the URLs in
    these, empty for the address of the request. ``languages`` are the languages of the pages;
    None for the languages of this package. Asterisk gets lines if it sends ``asterisk_token`` from
    one of ``asterisk_networks``, with ``asterisk_pjsip`` also endpoints."""

    largest_body: int = 1024 * 1024
    trusted_proxies: Sequence[Network] = ()
    console: bool = True
    provider: str = ""
    public_url: str = ""
    phone_services: bool = True
    phone_url: str = ""
    languages: Languages | None = None
    asterisk_token: Annotated[str | None, SECRET] = None
    asterisk_networks: Sequence[Network] = ()
    asterisk_pjsip: bool = False


Ready = Callable[[], Awaitable[str | None]]
"""The readiness check: the reason why the service cannot serve, or None."""

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


def api_routes(use_cases: UseCases) -> list[Router]:
    """Every route of the interface."""
    of = use_cases
    shared_write = guard(require_shared_write, of.shared_write)
    return [
        auth_routes(of.login, of.register, of.refresh, of.logout),
        me_routes(
            of.me,
            of.personal_directory,
            of.company_directory,
            of.api_tokens,
            of.sessions,
            of.identities,
            of.change_password,
        ),
        user_routes(of.users, of.sessions, of.identities, of.api_tokens, of.notes),
        extension_routes(of.extensions, of.lines),
        permission_routes(of.permissions, of.user_permissions, of.rights),
        user_extension_routes(of.links, of.lines),
        phone_routes(of.phones, of.locations, of.notes, shared_write),
        template_routes(of.templates, of.try_template, of.plan_template),
        profile_routes(of.profiles, of.switch_profile, of.preview_switch, of.read_configurations),
        transfer_routes(of.import_or_sync, of.edit_records),
        joining_routes(of.join_people, of.leave_people, of.undo_act),
        deployment_routes(of.deployments, of.rollback, of.restart_phone),
        desk_routes(of.desks),
        line_routes(of.lines, of.drills, of.numbers),
        batch_routes(of.batches, of.plan_batch, of.rehearse_batch, of.read_phone_list),
        fleet_routes(of.view_fleet, of.change_fleet, of.history),
        provisioning_routes(of.fetches, of.discovered_phones),
        company_directory_routes(of.company_directory, shared_write),
        kem_routes(of.kems, shared_write),
        vendor_service_routes(of.vendor_services, shared_write),
        location_routes(of.locations),
        personal_directory_routes(of.personal_directory),
        vendor_phone_routes(of.vendor_phones, shared_write),
        vendor_user_routes(of.vendor_users),
        audit_routes(of.audit),
    ]


def litestar_app(
    use_cases: UseCases,
    settings: HttpSettings,
    *,
    ready: Ready,
    lifespan: Sequence[Lifespan] = (),
) -> Litestar:
    """The routes, with the exception handlers and the OpenAPI document. What a caller is refused
    with 403 is recorded in the audit trail."""

    async def record_refusal(error: Exception, scope: Scope) -> None:
        if isinstance(error, Forbidden) and scope["user"] is not None:
            request = f"{scope.get('method')} {scope['path_template']}"
            await use_cases.audit.refused(scope["user"], request)

    console = (
        console_routes(use_cases, settings.provider, settings.public_url)
        if settings.console
        else []
    )
    return Litestar(
        route_handlers=[*api_routes(use_cases), health_routes(ready), docs_routes(), *console],
        middleware=[DefineMiddleware(Authentication, authenticate=use_cases.authenticate)],
        before_request=require_known_query,
        after_exception=[record_refusal],
        exception_handlers={
            PhoneprovError: errors.on_phoneprov_error,
            HTTPException: errors.on_http_exception,
            Exception: errors.on_any_exception,
        },
        state=State({"list_as_table": use_cases.list_as_table}),
        dto=Body,
        return_dto=None,
        request_class=ApiRequest,
        response_class=EnvelopeResponse,
        openapi_config=openapi_config(),
        lifespan=list(lifespan),
        logging_config=None,
        request_max_body_size=settings.largest_body,
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
    app = litestar_app(use_cases, settings, ready=ready, lifespan=lifespan)
    pages = None
    if settings.phone_services:
        pages = PhonePages(
            use_cases.phone_services,
            base=settings.phone_url,
            languages=settings.languages,
        )
    exchange = Exchange(
        use_cases.lines,
        use_cases.pjsip if settings.asterisk_pjsip else None,
        check_token=use_cases.check_service_token,
        token=settings.asterisk_token,
        networks=settings.asterisk_networks,
    )
    return Front(app, settings.trusted_proxies, pages, exchange)
