"""Options and output that several commands share. Every command loads it, so it imports little."""

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import click
import msgspec

from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.switching.devices.names import mac_in_table

PORT = click.IntRange(0, 65535)
"""A port to listen on, 0 for a free one; the resolver would take 70000 for 4464."""

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that exists."""

Decorator = Callable[[Any], Any]


class _Mac(click.ParamType[str]):
    """A MAC in any spelling, also as the name of a device (SEP<MAC>)."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return addresses.mac(mac_in_table(value) or value)
        except ValueError as error:
            self.fail(f"it {error}", param, ctx)


MAC = _Mac()


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Report an invalid field by the name of the option that set it: ``options`` are the
    options by field."""
    try:
        yield
    except Invalid as error:
        named = [
            f"{options[field]} {problem.message}"
            for problem in error.problems
            if (field := problem.field.partition("[")[0]) in options
        ]
        if not named:
            raise
        raise click.UsageError(f"{'; '.join(named)}.") from None


def together(*options: Decorator) -> Decorator:
    """Several options or arguments as one decorator, in their order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def software_type(meaning: str) -> Decorator:
    """The option for a firmware family."""
    families = click.Choice(["SCCP", "SIP", "SIPE"], case_sensitive=False)
    return click.option("--software-type", type=families, help=meaning)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def show(thing: object, text: str, *, as_json: bool) -> None:
    """Print a thing as JSON, or what the text says of it."""
    if as_json:
        print_json(thing)
    else:
        click.echo(text)


def print_json(thing: object) -> None:
    """Print indented JSON. Characters that a terminal acts on are escaped."""
    text = msgspec.json.format(msgspec.json.encode(thing), indent=2).decode()
    # JSON itself escapes the other control characters.
    escaped = _ACTED_ON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    click.echo(escaped.encode())  # JSON is UTF-8 in every locale


_ACTED_ON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_NOT_SHOWN = re.compile(f"[\x00-\x08\x0a-\x1f]|{_ACTED_ON.pattern}")


def printable(text: str) -> str:
    """One line of text for a terminal: control and direction characters except tab are escaped."""
    return _NOT_SHOWN.sub(
        lambda found: ascii(found[0])[1:-1], text.encode("utf-8", "replace").decode()
    )


def free_port(*, datagrams: bool = False) -> int:
    """A port of loopback that is free at this moment."""
    with socket.socket(type=socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
