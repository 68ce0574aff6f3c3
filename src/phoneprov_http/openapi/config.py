"""The description of the service, and the configuration of its OpenAPI document."""

from __future__ import annotations

from importlib.metadata import version

from litestar import Router
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme, Server, Tag

ABOUT = """\
phoneprov manages the telephony of an office: accounts, permissions, extensions, phones,
directories and PINs. It switches the profile of a user onto any desk phone.

**Responses.** Every response is one JSON object. A success has `success: true`, a `message` for
people, `data` (null for deletions and logout) and `metadata`. Responses about phone profiles have
no `metadata`. A failure has `success: false`, a `message`, `data: null` and `error` with a stable
`code`, `details` that name every invalid field, and the `request_id`. The header `X-Request-Id`
has the request id too. A client may choose it by sending that header (up to 64 letters, digits,
dots, dashes and underscores).

**Authentication.** `POST /api/v1/auth/login` returns an access token and a refresh token. Send the
access token as `Authorization: Bearer <token>`. A refresh token can be exchanged once.

**Order of errors.** A missing or invalid token is 401 before all else. A missing permission level
is 403 before the body is read. Then follow the body (413, 415, 400, 422) and the rules on records
(404, 403 for the records of other users, 409).

**Writing.** Unknown fields are refused. PUT changes the fields that are sent; null clears a field
that may be null. A record can be sent back as it was read: read-only fields are ignored, and
identifiers must agree with the path.

**Lists** are complete, oldest first. With `limit` or `offset` the response is one page, and
`metadata` has `total`, `limit` and `offset`. Where a list takes `q`, each of its words is part of
an identifying field of a row; case and accents are ignored. Filters are compared exactly.

**Values.** Times are in UTC with milliseconds. MAC addresses are accepted with `:`, `-`, dots or
no separators and returned as `00:1B:D4:12:34:56`. Text is normalised to Unicode NFC and has no
control characters.

**Other failures.** An unknown path is 404 (`not_found`). A method that the path does not support
is 405 (`method_not_allowed`) with the header `Allow`. A fault of the service is 500
(`internal_error`).
"""
TAGS = {
    "Auth": "Login, registration, refresh and logout",
    "Me": "Account of the caller, its phones and directories",
    "Users": "Accounts; level 0",
    "Extensions": "Telephone extensions; level 0",
    "Permissions": "Permissions and their assignment to users; level 0",
    "User extensions": "Links between users and extensions; level 0",
    "Phones": "Phone inventory. Every account reads it, level 0 writes it",
    "Phone profiles": "Configurations and the switch onto a phone; the owner or level 0",
    "Desks": "Default profiles of phones, and the users that are logged in there",
    "Import": "Import of tables; level 0",
    "Deployments": "Record of switches, and rollback; others than level 0 see their own",
    "Batches": "Switches or restarts of many phones in the background; level 0",
    "Provisioning": "Requests of phones for files, and phones that are not in the inventory",
    "Company directory": "Company contacts. Every account reads them, level 0 writes them",
    "Vendor KEM": "Key expansion modules. Every account reads them, level 0 writes them",
    "Vendor services": "Service definitions. Every account reads them, level 0 writes them",
    "Personal directory": "Contacts of a user; the user or level 0",
    "Vendor phones": "Vendor flags of phones. Every account reads them, level 0 writes them",
    "Vendor users": "PINs for vendor phones; the user or level 0",
    "Audit": "Who changed what, failed logins and refusals; level 0",
    "Health": "Liveness and readiness checks",
}


class _NoPages(Router):
    """Takes no handlers: Litestar's own pages for the document are not served."""

    def register(self, value: object) -> list[object]:  # type: ignore[override]  # noqa: ARG002
        return []


def openapi_config() -> OpenAPIConfig:
    """The configuration of Litestar's document."""
    return OpenAPIConfig(
        title="phoneprov",
        version=version("phoneprov"),
        summary="Switch the desk phones of an office to the profiles of their users.",
        description=ABOUT,
        license=License(name="Apache License 2.0", identifier="Apache-2.0"),
        servers=[Server(url="/")],
        tags=[Tag(name=name, description=words) for name, words in TAGS.items()],
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    bearer_format="JWT",
                    description="The `accessToken` of the response of `POST /api/v1/auth/login`",
                )
            }
        ),
        use_handler_docstrings=True,
        operation_id_creator=lambda handler, _method, _path: handler.handler_name,
        openapi_router=_NoPages("/docs", route_handlers=[]),
        render_plugins=[],
    )
