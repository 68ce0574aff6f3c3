"""The private parts of uvicorn and httptools that the server relies on, one by one. A new minor
version of either raises the ceiling in pyproject.toml only after this passes."""

import asyncio
import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httptools
import pytest
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import Server, ServerState

from phoneprov_http.main.server import server as serving
from phoneprov_http.main.server.protocol import BoundedProtocol

ROOT = Path(__file__).parents[3]

METHODS: dict[tuple[type, str], tuple[str, ...]] = {
    (HttpToolsProtocol, "connection_made"): ("self", "transport"),
    (HttpToolsProtocol, "connection_lost"): ("self", "exc"),
    (HttpToolsProtocol, "data_received"): ("self", "data"),
    (HttpToolsProtocol, "on_message_begin"): ("self",),
    (HttpToolsProtocol, "on_url"): ("self", "url"),
    (HttpToolsProtocol, "on_header"): ("self", "name", "value"),
    (HttpToolsProtocol, "on_headers_complete"): ("self",),
    (HttpToolsProtocol, "on_body"): ("self", "body"),
    (HttpToolsProtocol, "on_message_complete"): ("self",),
    (HttpToolsProtocol, "on_response_complete"): ("self",),
    (HttpToolsProtocol, "timeout_keep_alive_handler"): ("self",),
    (HttpToolsProtocol, "pause_writing"): ("self",),
    (HttpToolsProtocol, "resume_writing"): ("self",),
    (HttpToolsProtocol, "shutdown"): ("self",),
    (HttpToolsProtocol, "send_400_response"): ("self", "msg"),
    (HttpToolsProtocol, "eof_received"): ("self",),
    (FlowControl, "pause_reading"): ("self",),
    (Server, "run"): ("self", "sockets"),
    (Server, "startup"): ("self", "sockets"),
    (Server, "shutdown"): ("self", "sockets"),
    (Server, "capture_signals"): ("self",),
    (Server, "handle_exit"): ("self", "sig", "frame"),
}
CYCLE = {"keep_alive", "more_body", "response_started", "response_complete"}
PROTOCOL = {
    *("app", "client", "config", "cycle", "flow", "headers", "loop", "parser", "pipeline"),
    *("scope", "timeout_keep_alive_task", "transport", "url"),
}
SERVER = {"force_exit", "lifespan", "server_state", "servers", "should_exit"}


@pytest.mark.parametrize(
    ("owner", "name"), METHODS, ids=[f"{owner.__name__}.{name}" for owner, name in METHODS]
)
def test_uvicorn_method_has_its_parameters(owner: type, name: str) -> None:
    assert tuple(inspect.signature(getattr(owner, name)).parameters) == METHODS[owner, name]


async def _app(scope: Any, receive: Any, send: Any) -> None: ...


async def test_uvicorn_attributes_exist() -> None:
    config = uvicorn.Config(_app, log_config=None)
    config.load()
    protocol = HttpToolsProtocol(config, ServerState(), {}, asyncio.get_running_loop())

    assert vars(protocol).keys() >= PROTOCOL - {"url"}  # set by each request
    assert vars(ServerState()).keys() >= {"connections", "tasks"}
    assert _assigned(Server) >= SERVER
    assert _assigned(RequestResponseCycle) >= CYCLE
    assert _assigned(HttpToolsProtocol) >= {"url"}


@pytest.mark.parametrize(
    ("ours", "theirs", "attributes"),
    [(BoundedProtocol, HttpToolsProtocol, PROTOCOL), (serving.Server, Server, SERVER)],
)
def test_server_uses_no_other_part_of_uvicorn(
    ours: type, theirs: type, attributes: set[str]
) -> None:
    used = {*vars(ours), *re.findall(r"\bself\.(\w+)", inspect.getsource(ours))}

    class Empty: ...  # since Python 3.13 a class statement sets two more attributes

    inherited = used & {*dir(theirs), *_assigned(theirs)} - {*dir(Empty)}
    listed = {name for owner, name in METHODS if owner is theirs}

    assert inherited == listed | attributes
    assert [name for name in inherited if name.startswith("_")] == []


def _assigned(owner: type) -> set[str]:
    return {*re.findall(r"\bself\.(\w+)(?::[^=\n]+)? = ", inspect.getsource(owner))}


def test_parser_reports_upgrade_with_offset_of_the_rest() -> None:
    class Listener:
        upgrades: list[bool] = []

        def on_headers_complete(self) -> None:
            self.upgrades.append(parser.should_upgrade())

    listener = Listener()
    parser = httptools.HttpRequestParser(listener)
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    head = b"POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\n"
    with pytest.raises(httptools.HttpParserUpgrade) as raised:
        parser.feed_data(head + b"body")
    assert raised.value.args == (len(head),)
    assert listener.upgrades == [True]
    assert (parser.get_method(), parser.get_http_version()) == (b"POST", "1.1")


def test_parser_keeps_the_exception_of_a_callback_as_context() -> None:
    class Listener:
        def on_message_begin(self) -> None:
            raise LookupError("no more requests")

    with pytest.raises(httptools.HttpParserError) as raised:
        httptools.HttpRequestParser(Listener()).feed_data(b"GET / HTTP/1.1\r\n\r\n")
    assert isinstance(raised.value.__context__, LookupError)


@pytest.mark.parametrize("library", ["uvicorn", "httptools"])
def test_uvicorn_requirement_has_a_ceiling(library: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (requirement,) = (
        entry for entry in project["dependencies"] if re.match(rf"{library}\b", entry)
    )
    minor = ".".join(version(library).split(".")[:2])
    above = f"{minor.split('.')[0]}.{int(minor.split('.')[1]) + 1}"
    assert {*requirement.removeprefix(library).split(",")} == {f">={minor}", f"<{above}"}
