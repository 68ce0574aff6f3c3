"""The commands of how-to pages are carried out as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from phoneprov_adapters.security.keys import SecretKeys

HOW_TO = Path(__file__).parents[3] / "docs/how-to"


def carried_out(page: str, folder: Path, before: str = "") -> str:
    """What every shell command of the page says, one after the other in one folder; ``before``
    is a script that goes before them."""
    script = "\n".join(
        re.findall(r"```sh\n(.*?)```", (HOW_TO / page).read_text("utf-8"), re.DOTALL)
    )
    bash = shutil.which("bash")
    assert bash is not None
    assert script
    script = before + script
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


BEFORE_ROTATION = """
printf 'type,extension,name,password\\nchan_sccp,1001,Desk,a long password\\n' > extensions.csv
phoneprov import extensions extensions.csv
"""


def test_rotate_the_secret_keys(tmp_path: Path) -> None:
    said = carried_out("rotate-keys.md", tmp_path, BEFORE_ROTATION)

    keys = (tmp_path / "phoneprov-data/secret.key").read_text().strip()
    assert "," not in keys
    assert (tmp_path / "phoneprov-data/secret.key").stat().st_mode & 0o777 == 0o600
    assert keys not in said
    new = SecretKeys.parse(keys).current.id
    assert f"1 secret(s) were encrypted with the key {new}." in said
    assert "(older): nothing needs it" in said
    assert said.endswith(f"{new} (the first): 1 extensions.password\n")


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
