"""``phoneprov openapi``: the OpenAPI document."""

import click
import msgspec

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_http.app import HttpSettings, litestar_app
from phoneprov_http.openapi.document import document


@click.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(describe()), indent=2))


def describe() -> dict[str, object]:
    """The OpenAPI document, without a database or any setting."""
    container = Container(
        settings=read_settings({}), keys=SecretKeys.parse("only used to describe the routes")
    )

    async def ready() -> str | None:
        return None

    return document(litestar_app(container.use_cases(), HttpSettings(), ready=ready))
