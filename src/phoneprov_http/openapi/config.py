"""The description of the service, and the configuration of its OpenAPI document."""

from importlib import resources
from importlib.metadata import version

from litestar import Router
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme, Server


class _NoPages(Router):
    """Takes no handlers: Litestar's own pages for the document are not served."""

    def register(self, value: object) -> list[object]:  # type: ignore[override]  # noqa: ARG002
        return []


def openapi_config() -> OpenAPIConfig:
    """The configuration of Litestar's document."""
    about = resources.files("phoneprov_http").joinpath("static/about.md")
    return OpenAPIConfig(
        title="phoneprov",
        version=version("phoneprov"),
        summary="Switch the desk phones of an office to the profiles of their users.",
        description=about.read_text("utf-8"),
        license=License(name="Apache License 2.0", identifier="Apache-2.0"),
        servers=[Server(url="/")],
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
