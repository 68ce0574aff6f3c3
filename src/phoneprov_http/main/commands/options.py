"""Options and output that several commands share; light, for it is loaded with each of them."""

from __future__ import annotations

import click
import msgspec

from phoneprov_core.kernel import values

PORT = click.IntRange(0, 65535)
"""What may be listened on, 0 for a free one; the resolver would take 70000 for 4464."""


def mac_of(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """The callback of a parameter that takes a MAC in any spelling."""
    try:
        return None if text is None else values.mac(text)
    except ValueError as error:
        raise click.BadParameter(f"it {error}") from None


as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for scripts instead of words for people."
)


def print_json(thing: object) -> None:
    """Print something as JSON that people can read, too."""
    click.echo(msgspec.json.format(msgspec.json.encode(thing), indent=2).decode())
