"""The command line for scripts: output, exit codes, one line for an error."""

import asyncio
import contextlib
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from email.message import Message
from html import unescape
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from phoneprov_adapters.api import blocking, open_phoneprov, read_settings
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.api import Credentials
from phoneprov_http.main.cli import main
from phoneprov_http.main.server.asgi import LEAVE_SECONDS
from support import refused_start
from support.command_line import PROGRAM, run, spawn, without_settings
from support.desk import press_without_pauses
from support.forked_commands import Forked
from support.polling import wait_for
from support.postgres import new_database

DRAWING = Path(__file__).parents[3] / "docs/demo.svg"
PASSWORD = "correct horse battery"


def test_demo_completes_and_shows_every_step(tmp_path: Path) -> None:
    done = spawn("demo", data=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    output = done.stdout
    assert "ada logged in, level 0 (superadmin)." in output
    assert "On the phone: SEP001BD4123456.cnf.xml, 274 bytes, SHA-256 " in output
    assert output.index("Init:Services") < output.index("Key:Settings")
    assert output.rstrip().endswith("Every step succeeded.")
    texts = re.findall(r"<text.*?</text>", DRAWING.read_text("utf-8"))
    drawn = [unescape(re.sub("<[^>]+>", "", text)) for text in texts]
    patterns = [re.escape(line).replace(r"\.\.\.", ".*") for line in drawn]
    lines = [line.removeprefix("    |").strip(" []") for line in output.splitlines()]
    assert len(lines) == len(patterns)
    for pattern, line in zip(patterns, lines, strict=True):
        assert re.fullmatch(pattern, line)


def test_demo_failed_step_sets_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_without_pauses(monkeypatch)
    monkeypatch.setattr(SimulatedPhone, "_receive", lambda _phone, _uri: None)

    done = run("demo", data=tmp_path)

    assert done.exit_code == 1
    assert "Every step succeeded." not in done.stdout
    assert done.stderr.strip().splitlines()[-1].startswith("Error: The phone did not receive")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_demo_stopped_by_a_signal_ends_its_service(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [*PROGRAM, "demo"],
        env=without_settings(TMPDIR=str(tmp_path), PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        (port,) = next(
            found
            for line in demo.stdout
            if (found := re.findall(r"serves on http://.*:(\d+)", line))
        )
        demo.send_signal(number)
        output, _ = demo.communicate(timeout=60)

    assert (demo.returncode, output.splitlines()[-1]) == (0, "Stopped.")
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(port)), timeout=60)


@pytest.mark.parametrize(
    "command", [("--help",), ("settings",), ("lint", "-"), ("simulate-phone", "--help")]
)
def test_command_without_database_does_not_load_sqlalchemy(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", *PROGRAM[1:], *command],
        env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path)),
        input="<device/>",
        capture_output=True,
        text=True,
        check=False,
    ).stderr

    assert "phoneprov_http.main.cli" in loaded
    assert "sqlalchemy" not in loaded


def test_command_ends_without_a_message_when_its_reader_has_ended(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    who = ("--username", "ada", "--email", "ada@example.com", "--password-stdin")
    assert run("create-admin", *who, data=tmp_path, stdin=f"{PASSWORD}\n").exit_code == 0

    done = spawn("audit", "--json", data=tmp_path, stdout=writing)
    os.close(writing)

    assert (done.returncode, done.stderr) == (1, "")


def test_create_admin_works_before_the_first_start_and_can_be_repeated(tmp_path: Path) -> None:
    arguments = ("create-admin", "--username", "ada", "--email", "ada@example.com")

    first = spawn(*arguments, "--password-stdin", data=tmp_path, stdin=PASSWORD + "\n")
    again = run(*arguments, "--password-stdin", data=tmp_path, stdin="another one\n")

    assert (first.returncode, again.exit_code) == (0, 0), first.stderr + again.stderr
    assert first.stdout == "ada was created and is a superadmin.\n"
    assert again.stdout == "ada exists, keeps its password and is a superadmin.\n"


def test_create_admin_drops_a_byte_order_mark_before_the_password(tmp_path: Path) -> None:
    who = ("--username", "ada", "--email", "ada@example.com", "--password-stdin")

    done = run("create-admin", *who, data=tmp_path, stdin=f"\ufeff{PASSWORD}\r\n")

    assert done.exit_code == 0, done.stderr
    settings = read_settings({"PHONEPROV_DATA_DIR": str(tmp_path)})
    with blocking(open_phoneprov(settings)) as (phoneprov, call):
        credentials = Credentials(username="ada", password=PASSWORD)
        assert call(phoneprov.login(credentials, "::1")).user.username == "ada"


async def test_command_argument_that_is_not_utf8_is_named_as_such(tmp_path: Path) -> None:
    latin_1 = os.fsdecode(b"M\xfcller")
    who = ("--username", latin_1, "--email", "ada@example.com", "--password-stdin")
    async with new_database() as url:
        for more in ({}, {"PHONEPROV_DATABASE_URL": url}):
            done = await asyncio.to_thread(
                run, "create-admin", *who, data=tmp_path, stdin=PASSWORD, **more
            )

            assert done.exit_code == 1
            assert done.stderr.startswith("phoneprov: A text is not in UTF-8")


@pytest.mark.parametrize(
    ("limit", "size", "sentence"),
    [
        (resource.RLIMIT_NOFILE, 30, "may open 30 files and needs at least 64"),
        (resource.RLIMIT_AS, 256 * 1024**2, "The system refuses "),
    ],
)
def test_serve_under_a_limit_of_the_process_names_it_without_a_traceback(
    tmp_path: Path, limit: int, size: int, sentence: str
) -> None:
    done = subprocess.run(
        [*PROGRAM, "serve", "--port", "0"],
        env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path)),
        preexec_fn=lambda: resource.setrlimit(limit, (size, size)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode in {1, 2}
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "workers", "sentence"),
    [
        ("thread", "1", "The system refuses another thread (ulimit -u, "),
        ("thread", "2", "The system refuses another thread (ulimit -u, "),
        ("memory", "1", "The system refuses more memory (ulimit -v, "),
        ("files", "1", "The system refuses more open files (ulimit -n, "),
        ("database", "2", "The file of the database is damaged."),
    ],
)
def test_serve_whose_application_cannot_be_opened_says_why_in_one_line(
    tmp_path: Path, error: str, workers: str, sentence: str
) -> None:
    done = subprocess.run(
        [sys.executable, refused_start.__file__, "serve", "--port", "0", "--workers", workers],
        env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path), REFUSED=error),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"phoneprov: {sentence}")
    assert done.stderr.count("\n") == 1


def test_serve_with_a_fault_of_the_program_ends_with_its_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, refused_start.__file__, "serve", "--port", "0"],
        env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path), REFUSED="fault"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.strip().endswith("KeyError: 'of the program'")
    assert done.stderr.count("Traceback") == 1


@pytest.mark.parametrize(("seconds", "is_open"), [("1", False), ("30", True)])
def test_serve_closes_an_idle_connection_after_the_time_that_is_set(
    tmp_path: Path, seconds: str, is_open: bool
) -> None:
    with (
        subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0"],
            env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path), PHONEPROV_KEEP_ALIVE=seconds),
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(process.kill)
        assert process.stderr is not None
        said = next(line for line in process.stderr if "serves on" in line)
        found = re.search(r":(\d+) ", said)
        assert found is not None
        client = socket.create_connection(("127.0.0.1", int(found[1])), timeout=7)
        stack.enter_context(client)
        client.sendall(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        received = b""
        while not received.endswith(b"}"):
            received += client.recv(4096)
        try:
            closed = client.recv(4096) == b""
        except TimeoutError:
            closed = False

    assert closed == (not is_open)  # the default is 5 seconds


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        (("--username", "ada", "--email", "no address"), PASSWORD, "email must be"),
        (("--username", "ada", "--email", "a@b.ch"), "short", "at least 8 characters"),
        (("--username", "ada", "--email", "a@b.ch"), "password", "commonly used"),
    ],
)
def test_create_admin_refusal_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], stdin: str, complaint: str
) -> None:
    done = run("create-admin", *arguments, "--password-stdin", data=tmp_path, stdin=stdin)

    assert done.exit_code == 1
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PHONEPROV_FTP_PORT", "abc"),
        ("PHONEPROV_FTP_TLS", "maybe"),
        ("PHONEPROV_LEVEL_RULE", "loose"),
        ("PHONEPROV_PHONE_NETWORKS", "10.0.0.0/99"),
        ("PHONEPROV_SECRET_KEYS", "too short"),
        ("PHONEPROV_DATABASE_URL", "mysql://root:hunter2hunter2@host/db"),
        ("PHONEPROV_RESTART", "ami"),
        ("PHONEPROV_FTP_FILENAME", "../{MAC}"),
        ("PUBLIC_REGISTER", "perhaps"),
        ("PHONEPROV_FTP_PASSWORD_FILE", "/nowhere/at/all"),
    ],
)
def test_serve_invalid_setting_is_named_in_one_line(
    tmp_path: Path, variable: str, value: str
) -> None:
    done = run("serve", data=tmp_path, **{variable: value})

    assert done.exit_code == 2
    assert variable in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--nope",), "--nope"),
        (("nope",), "nope"),
        (("serve", "extra"), "extra"),
        (("serve", "--port", "70000"), "--port"),
        (("serve", "--port", "-1"), "--port"),
        (("serve", "--workers", "0"), "--workers"),
        (("create-admin", "--username", "ada"), "--email"),
        (("db", "nope"), "nope"),
        (("simulate-phone", "--mac", "xx"), "--mac"),
        (("simulate-phone", "--ftp-port", "65536"), "--ftp-port"),
        (("simulate-phone", "--http-port", "-5"), "--http-port"),
        (("switch",), "PROFILE"),
    ],
)
def test_command_error_is_named_in_one_line(arguments: tuple[str, ...], complaint: str) -> None:
    done = CliRunner().invoke(main, arguments)

    assert done.exit_code == 2
    assert complaint in done.stderr
    assert done.stderr.startswith("phoneprov: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [(), ("db",), ("keys",)])
def test_missing_command_prints_the_help(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, arguments)

    assert done.exit_code == 2
    assert done.stderr.startswith("Usage: ")
    assert "Commands:" in done.stderr


@pytest.mark.parametrize("option", ["--ftp-port", "--http-port", "--host"])
def test_simulate_phone_that_cannot_listen_fails_with_one_line(option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        value = "999.1.1.1" if option == "--host" else str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["simulate-phone", option, value])

    host = "999.1.1.1" if option == "--host" else "127.0.0.1"
    assert done.exit_code == 1
    assert f"cannot start on {host}" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_db_current_exit_code_reports_a_due_upgrade(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "phoneprov.db")) as empty:
        empty.execute("VACUUM")  # a database without a table; a file of 0 bytes is another case

    before = run("db", "current", data=tmp_path)
    upgraded = run("db", "upgrade", data=tmp_path)
    after = run("db", "current", data=tmp_path)

    assert (before.exit_code, upgraded.exit_code, after.exit_code) == (1, 0, 0)
    assert "The schema is missing" in before.stdout


@pytest.mark.parametrize("command", main.list_commands(click.Context(main)))
def test_every_command_has_help(command: str) -> None:
    done = CliRunner().invoke(main, [command, "--help"])

    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) > 5


def test_list_of_commands_has_their_whole_summaries() -> None:
    done = CliRunner().invoke(main, ["--help"])

    context = click.Context(main)
    listed = done.stdout.partition("\nCommands:\n")[2].splitlines()
    assert [line.split(maxsplit=1) for line in listed] == [
        [name, command.get_short_help_str(limit=200)]
        for name in main.list_commands(context)
        if (command := main.get_command(context, name))
    ]


@pytest.mark.parametrize(("workers", "number"), [("1", signal.SIGTERM), ("2", signal.SIGHUP)])
def test_serve_answers_and_stops_at_a_signal(
    tmp_path: Path, workers: str, number: signal.Signals
) -> None:
    tmp_path.chmod(0o755)  # the start warns about it
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        server = Forked(
            ["serve", "--port", "0", "--workers", workers],
            env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path)),
            stderr=stderr,
        )
    with server:
        try:
            port = wait_until_serving(log)
            headers = headers_when_ready(port)
            server.send_signal(number)
            server.wait(2 * LEAVE_SECONDS)
        finally:
            server.kill()

    assert server.returncode == 0
    assert "Server" not in headers
    assert headers["X-Request-Id"]
    output = log.read_text()
    assert "Traceback" not in output
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    (request,) = [line for line in lines if line.get("request_id") == headers["X-Request-Id"]]
    assert (request["event"], request["route"], request["status"]) == (
        "request", "/health/ready", 200,
    )  # fmt: skip
    plain = [line for line in output.splitlines() if not line.startswith("{")]
    assert plain == [f"phoneprov serves on http://127.0.0.1:{port} (stop with Ctrl-C)"]
    assert "Other users can read the folder" in output


def wait_until_serving(log: Path) -> int:
    """The port that the service prints when it serves. Its first reply may come earlier."""
    found = wait_for(
        lambda: re.search(r"serves on http://127\.0\.0\.1:(\d+) ", log.read_text()),
        log=log.read_text,
        seconds=120,
    )
    assert found is not None
    return int(found[1])


def headers_when_ready(port: int) -> Message:
    """The headers of the first good reply: a busy machine may answer 503 at first."""
    until = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/health/ready", timeout=60
            ) as reply:
                headers: Message = reply.headers
                return headers
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
