"""The commands: in this process, or in a process of their own."""

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import click
from click.testing import CliRunner, Result

from phoneprov_http.main.cli import main
from support.forked_commands import run_forked

PROGRAM = (sys.executable, "-m", "phoneprov_http.main")


def without_settings(**environment: str) -> dict[str, str]:
    """The variables of this process without the settings of the service, and these."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")} | environment


def every_command(group: click.Group = main, before: str = "") -> Iterator[str]:
    """The names of all commands, those of groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_command(command, f"{before}{name} ")
        else:
            yield before + name


def run(*arguments: str, data: Path, stdin: str = "", **environment: str) -> Result:
    """The result of a command with this data folder."""
    variables = {"PHONEPROV_DATA_DIR": str(data), **environment}
    return CliRunner(env=variables).invoke(main, arguments, input=stdin)


class Commands:
    """Commands with these settings."""

    def __init__(self, environment: Mapping[str, str], *first: str) -> None:
        self.environment = {"COLUMNS": "240", **environment}
        self._first = first

    def run(self, *arguments: str, stdin: str = "", **more: str) -> Result:
        return CliRunner(env={**self.environment, **more}).invoke(
            main, [*self._first, *arguments], input=stdin, catch_exceptions=False
        )

    def json(self, *arguments: str, **more: str) -> Any:
        return json.loads(self.run(*arguments, "--json", **more).stdout)

    def lines(self, *arguments: str, **more: str) -> list[Any]:
        """The output of a command that prints one object a line."""
        return [*map(json.loads, self.run(*arguments, "--json", **more).stdout.splitlines())]


def run_script(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The result of a script in this folder."""
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=without_settings(**environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def spawn(
    *arguments: str,
    data: Path,
    stdin: str = "",
    stdout: int | IO[str] | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """The result of a command in a process of its own."""
    variables = without_settings(PHONEPROV_DATA_DIR=str(data), **environment)
    return run_forked(arguments, env=variables, stdin=stdin, stdout=stdout)


def output_of(*program: str | Path, folder: Path | None = None, **environment: str) -> str:
    """The output of a program, which must succeed."""
    done = subprocess.run(
        program,
        cwd=folder,
        env=without_settings(**environment),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spawn_on_terminal(*arguments: str, **environment: str) -> tuple[int, bytes, bytes]:
    """Run a command whose standard error is a terminal: exit code, standard output, terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        env=without_settings(TERM="xterm", **environment),
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux raises this when the other end is closed.
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output, shown
