"""The commands of the tutorial run as written, with free ports."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from support.command_line import without_settings

TUTORIAL = Path(__file__).parents[3] / "docs/tutorial.md"


def test_tutorial_commands_run_as_written(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL))
    for port in ("2121", "8081", "8000"):
        script = script.replace(port, _free_port())
    script = script.replace(". .venv/bin/activate\n", "")
    bash = shutil.which("bash")
    assert bash is not None

    # Background processes must not survive a failed step.
    script = "trap 'kill $(jobs -p) 2>/dev/null' EXIT\n" + script
    transcript = tmp_path / "transcript"
    with transcript.open("w") as output:
        done = subprocess.run(
            [bash, "-eo", "pipefail", "-m", "-c", script],
            cwd=tmp_path,
            env=without_settings(PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}"),
            stdout=output,
            stderr=output,
            timeout=120,
            check=False,
        )

    replies = transcript.read_text("utf-8")
    assert done.returncode == 0, replies + (tmp_path / "server.log").read_text("utf-8")
    assert '"message":"Profile switched"' in replies
    assert '"restart":"ok"' in replies
    assert "[Logged in]" in replies
    assert "Charles Babbage: 1001" in replies
    assert '"username":"ada"' in replies


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
