"""The commands of how-to pages are carried out as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HOW_TO = Path(__file__).parents[3] / "docs/how-to"


def carried_out(page: str, folder: Path) -> str:
    """What every shell command of the page says, one after the other in one folder."""
    script = "\n".join(
        re.findall(r"```sh\n(.*?)```", (HOW_TO / page).read_text("utf-8"), re.DOTALL)
    )
    bash = shutil.which("bash")
    assert bash is not None
    assert script
    done = subprocess.run(
        [bash, "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_import_people_and_phones(tmp_path: Path) -> None:
    said = carried_out("import-and-export.md", tmp_path)

    assert said.count("Imported: 2 new, 0 changed, 0 as they were, 0 bad.") == 3
    assert "Imported: 0 new, 1 changed, 1 as they were, 0 bad." in said
    assert "[1001]\ntype = line" in (tmp_path / "sccp-lines.conf").read_text()
    assert (
        "[SEP001BD4123456]\ntype = device\ndevicetype = 7945"
        in (tmp_path / "sccp-lines.conf").read_text()
    )
    pjsip = (tmp_path / "pjsip-endpoints.conf").read_text()
    assert "context = office" in pjsip
    assert "password = another long password" in pjsip
