"""The commands: in this process, or in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

from click.testing import CliRunner, Result

from phoneprov_http.main.cli import main

PROGRAM = (sys.executable, "-m", "phoneprov_http.main")


def without_settings(**environment: str) -> dict[str, str]:
    """The variables of this process without the settings of the service, and these."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")} | environment


def run(*arguments: str, data: Path, stdin: str = "", **environment: str) -> Result:
    """The result of a command with this data folder."""
    variables = {"PHONEPROV_DATA_DIR": str(data), **environment}
    return CliRunner(env=variables).invoke(main, arguments, input=stdin)


def spawn(
    *arguments: str,
    data: Path,
    stdin: str = "",
    stdout: int | IO[str] = subprocess.PIPE,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """The result of a command in a process of its own."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=without_settings(PHONEPROV_DATA_DIR=str(data), **environment),
        input=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
