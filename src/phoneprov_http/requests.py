"""Requests as handlers take them: the caller, the page of a list, queries as commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from litestar import Request
from litestar.datastructures import State
from litestar.di import Provide

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, command_of_texts
from phoneprov_core.kernel.store import Page, Window

C = TypeVar("C", bound=Command)


class ApiRequest(Request[Actor, None, State]):
    """A request; ``user`` is the caller, None where no token is needed and none was sent."""

    @property
    def client_ip(self) -> str:
        """The address of the client."""
        return str(self.scope["state"]["client_ip"])

    @property
    def page(self) -> Page:
        """The page that ``limit`` and ``offset`` select; None for the whole list. Raises
        ``Invalid``."""
        return self.selected(Window, None)

    def selected(self, command: type[C], absent: C | None) -> C | None:
        """The parameters of the query that are fields of a command; ``absent`` if none is sent.
        Raises ``Invalid`` with each invalid parameter."""
        if not self.scope["query_string"]:
            return absent
        fields = command.__struct_encode_fields__
        given = {name: text for name, text in self.query_params.items() if name in fields}
        return command_of_texts(command, given) if given else absent


def query(command: type[Command]) -> dict[str, Provide]:
    """The dependency ``wanted`` of a handler: the query, as this command."""
    return {"wanted": Provide(QueryReader(command), sync_to_thread=False)}


class QueryReader:
    """Reads a command from the query."""

    def __init__(self, command: type[Command]) -> None:
        self.command = command
        self._absent = command()

    def __call__(self, request: ApiRequest) -> Any:
        return request.selected(self.command, self._absent)


def queried(dependencies: dict[str, Provide]) -> type[Command] | None:
    """The command that a handler with these dependencies reads from the query."""
    reader: Callable[..., Any] | None = (
        dependencies["wanted"].dependency if ("wanted" in dependencies) else None
    )
    return reader.command if isinstance(reader, QueryReader) else None
