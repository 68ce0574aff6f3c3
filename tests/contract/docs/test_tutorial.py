"""The commands of the tutorial run as written, on other ports."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.command_line import without_settings

TUTORIAL = Path(__file__).parents[3] / "docs/tutorial.md"


PORT = r"""
port() { until sed -n "\|$1|{s|.*$1\([0-9]*\).*|\1|p;q}" $2 | grep .; do sleep 0.1; done; }
"""
REPLACED = {
    "--ftp-port 2121 --http-port 8081": "--ftp-port 0 --http-port 0",
    "> phone.log &": (
        "> phone.log &\nftp=$(port FTP_PORT= phone.log) web=$(port HTTP_PORT= phone.log)"
    ),
    "--port 8000 2> server.log &": (
        "--port 0 2> server.log &\napi=$(port http://127.0.0.1: server.log)"
    ),
    "2121": "$ftp",
    "8081": "$web",
    "8000": "$api",
    ". .venv/bin/activate\n": "",
}
"""The servers take free ports, and the other commands the ports that the servers print."""


def test_tutorial_commands_run_as_written(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL))
    for written, replacement in REPLACED.items():
        assert written in script
        script = script.replace(written, replacement)
    bash = shutil.which("bash")
    assert bash is not None

    # Background processes must not survive a failed step.
    script = "trap 'kill $(jobs -p) 2>/dev/null' EXIT" + PORT + script
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
