"""What the document says of the service as a whole."""

from __future__ import annotations

from importlib.metadata import version

from litestar import Router
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme, Server, Tag

ABOUT = """\
phoneprov keeps what an office's telephony consists of: accounts and permission levels,
extensions, an inventory of desk phones, directories, PINs. And it does the job all of it
exists for: putting a person's phone profile onto any desk phone.

**Replies.** Every reply is one JSON object. A success has `success: true`, a `message` for
people, `data` (null where there is nothing to tell) and `metadata`; the replies about phone
profiles have no `metadata`. A failure has `success: false`, a `message`, `data: null` and
`error`: a stable `code` for programs, `details` that name every field to blame, and the
`request_id` that finds the request in the log. It stands in the header `X-Request-Id` too; a
client may send that header to choose it (up to 64 letters, digits, dots, dashes, underscores).

**Who asks.** `POST /api/v1/auth/login` answers an access token and a refresh token. Send the
access token as `Authorization: Bearer <token>`. A refresh token is exchanged once. A missing
token is told before anything else, then what the caller may not do, then what does not exist,
then what is wrong with the input: 401, 403, 404, 422.

**Writing.** Unknown fields are refused. A PUT changes the fields that are sent: an absent field
stays, null clears one that may be null. What was read may be sent back as it is; read-only
fields in it are ignored, identifiers must agree with what is addressed.

**Lists** are answered whole, oldest first. `limit` and `offset` ask for a page, and then
`metadata` tells `total`, `limit` and `offset`. Where a list takes `q`, each of its words is part of
an identifying field of a row; case and accents are ignored. Filters are compared exactly.

**Values.** Times are UTC with milliseconds. MACs are taken with `:`, `-`, dots or no separators
and answered as `00:1B:D4:12:34:56`. Text is kept in Unicode form NFC and has no control
characters.

**Beside what is listed.** A path that does not exist is 404 (`not_found`), a method that a path
does not take 405 (`method_not_allowed`) with the header `Allow`, a fault of the service itself
500 (`internal_error`); all of them are failures as described above.
"""
TAGS = {
    "Auth": "Logging in, registering, refreshing, logging out",
    "Me": "What the caller may read of themselves",
    "Users": "Accounts; level 0",
    "Extensions": "Telephone extensions; level 0",
    "Permissions": "Permissions and their assignment to users; level 0",
    "User extensions": "Who has which extension; level 0",
    "Phones": "The inventory. Every account reads it, level 0 writes it",
    "Phone profiles": (
        "Configurations, each kept by its owner or level 0, and the switch that puts one onto "
        "a phone"
    ),
    "Desks": "Phones to log in at: default profiles, and who is logged in where",
    "Import": "Many records from one table; level 0",
    "Deployments": (
        "What was put onto which phone, by whom, and how it went: for level 0 all of it, for "
        "others what they asked for, and what brought a profile of theirs"
    ),
    "Batches": (
        "Many phones switched or restarted at a pace, in the background, under one record; level 0"
    ),
    "Provisioning": (
        "Requests of phones for files, and phones that ask without being in the inventory"
    ),
    "Company directory": "Contacts of the company. Every account reads them, level 0 writes them",
    "Vendor KEM": "Key expansion modules. Every account reads them, level 0 writes them",
    "Vendor services": "Service definitions. Every account reads them, level 0 writes them",
    "Personal directory": "Contacts of single users, each kept by their owner or level 0",
    "Vendor phones": "Vendor flags of phones. Every account reads them, level 0 writes them",
    "Vendor users": "PINs for vendor phones, each kept by its user or level 0",
    "Health": "Whether the service lives, for machines",
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
        summary="Own your office telephony.",
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
