"""Sockets that a supervisor passes to the service."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_core.kernel.errors import Refused
from phoneprov_http.main.cli import main
from phoneprov_http.main.server import sockets
from phoneprov_http.main.server.sockets import activated, address_text, bound, inherited


@pytest.fixture
def passed() -> Iterator[int]:
    """The file descriptor of a listening socket."""
    listener = socket.create_server(("127.0.0.1", 0))
    fd = listener.detach()
    yield fd
    os.close(fd)


def environment(fd: int, pid: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(sockets, "_FIRST_FD", fd)
    return {"LISTEN_PID": str(pid), "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "HOME": "/"}


def test_activated_sockets_are_taken_and_their_variables_removed(
    passed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = environment(passed, os.getpid(), monkeypatch)

    (listener,) = activated(variables)

    assert address_text(listener).startswith("http://127.0.0.1:")
    assert not listener.get_inheritable()
    assert variables == {"HOME": "/"}
    listener.detach()


def test_activated_sockets_of_another_process_are_ignored(
    passed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert activated(environment(passed, os.getpid() + 1, monkeypatch)) == []
    assert activated({}) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "a..b", "x" * 64, "127.0.0.1 ", "\0"])
def test_address_that_cannot_be_listened_on_is_refused(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(Refused) as error:
        bound(host, taken.getsockname()[1])

    assert "cannot be listened on" in str(error.value)


def test_inherited_descriptor_that_is_no_stream_socket_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file, pytest.raises(Refused, match="is not a socket"):
        inherited(file.fileno())
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        pytest.raises(Refused, match="is not a stream socket"),
    ):
        inherited(datagrams.fileno())


@pytest.mark.parametrize("option", ["--host=10.0.0.5", "--port=8000"])
def test_serve_with_address_and_socket_is_refused(passed: int, option: str) -> None:
    done = CliRunner().invoke(main, ["serve", f"--fd={os.dup(passed)}", option])

    assert done.exit_code == 2
    assert done.stderr.startswith("phoneprov: --host and --port are not allowed with --fd.")


def test_serve_that_fails_restores_the_signal_handlers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PHONEPROV_UPLOADER", "pigeon")
    before = [signal.getsignal(number) for number in sockets.stop_signals()]

    done = CliRunner().invoke(main, ["serve", "--port", "0"])

    assert done.exit_code == 2
    assert [signal.getsignal(number) for number in sockets.stop_signals()] == before
