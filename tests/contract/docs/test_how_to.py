"""The commands of how-to pages run as written."""

import os
import re
import sys
from pathlib import Path

from phoneprov_adapters.composition.adapters import phone_driver_of
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.inventory.locations import emergency_of
from phoneprov_core.switching.devices.commands import CiscoPhones
from support.command_line import output_of, run_script
from support.phone_records import a_location

HOW_TO = Path(__file__).parents[3] / "docs/how-to"


def run_page(page: str, folder: Path, commands: str, before: str = "") -> str:
    """Run the shell commands of a page in one folder, after the script ``before``; their output."""
    script = "\n".join(
        re.findall(r"```sh\n(.*?)```", (HOW_TO / page).read_text("utf-8"), re.DOTALL)
    )
    assert script
    done = run_script(before + script, folder, PATH=f"{commands}:{os.environ['PATH']}")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


INSTALLATION = """
echo 'correct horse battery' | phoneprov create-admin --username root --email root@example.com \\
  --password-stdin
"""
BEFORE_ROTATION = f"""{INSTALLATION}
printf 'type,extension,name,password\\nchan_sccp,1001,Desk,a long password\\n' > extensions.csv
phoneprov import extensions extensions.csv
"""


def test_key_rotation_page_runs_as_written(tmp_path: Path, commands: str) -> None:
    output = run_page("rotate-keys.md", tmp_path, commands, BEFORE_ROTATION)

    keys = (tmp_path / "phoneprov-data/secret.key").read_text().strip()
    assert "," not in keys
    assert (tmp_path / "phoneprov-data/secret.key").stat().st_mode & 0o777 == 0o600
    assert keys not in output
    new = SecretKeys.parse(keys).current.id
    assert f"1 secret(s) were encrypted with the key {new}." in output
    assert "(older): nothing needs it" in output
    assert output.endswith(f"{new} (the first): 1 extensions.password\n")


def test_stolen_backup_page_runs_as_written(tmp_path: Path, commands: str) -> None:
    output = run_page("stolen-backup.md", tmp_path, commands, BEFORE_ROTATION)

    keys = (tmp_path / "phoneprov-data/secret.key").read_text().strip()
    assert "," not in keys
    assert "session(s) were ended." in output
    assert "(older, for PINs only): nothing needs it" in output
    assert output.endswith(
        f"{SecretKeys.parse(keys).current.id} (the first): 1 extensions.password\n"
    )


def test_import_page_runs_as_written(tmp_path: Path, commands: str) -> None:
    output = run_page("import-and-export.md", tmp_path, commands, INSTALLATION)

    assert output.count("Imported: 1 new, 0 changed, 0 unchanged, 0 wrong.") >= 2
    assert output.count("Imported: 2 new, 0 changed, 0 unchanged, 0 wrong.") == 3
    assert "Imported: 0 new, 1 changed, 1 unchanged, 0 wrong." in output
    assert "[1001]\ntype = line" in (tmp_path / "sccp-lines.conf").read_text()
    assert (
        "[SEP001BD4123456]\ntype = device\ndevicetype = 7945"
        in (tmp_path / "sccp-lines.conf").read_text()
    )
    pjsip = (tmp_path / "pjsip-endpoints.conf").read_text()
    assert "context = office" in pjsip
    assert "password = another long password" in pjsip


def test_emergency_page_runs_as_written(tmp_path: Path, commands: str) -> None:
    page = (HOW_TO / "emergency-calls.md").read_text("utf-8")
    table = re.search(r"^\| name \| .*?\n\n", page, re.DOTALL | re.MULTILINE)
    assert table
    head, _, *rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in table[0].splitlines()
        if line
    ]
    cells = "\n".join(",".join(f'"{cell}"' for cell in row) for row in (head, *rows))
    before = f"{INSTALLATION}\ncat > locations.csv <<'END'\n{cells}\nEND\n"

    output = run_page("emergency-calls.md", tmp_path, commands, before)

    assert f"Imported: {len(rows)} new, 0 changed, 0 unchanged, 0 wrong." in output
    known = [
        a_location(1, name=name, emergency_number=number or None, emergency_place=place or None)
        for name, number, place in rows
    ]
    # What the page says of a phone.
    assert "A phone at `Berlin/3/301` presents `+493012345` and the third floor." in page
    found = emergency_of("Berlin/3/301", known)
    assert (found.number, "third floor" in (found.place or "")) == ("+493012345", True)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of one language on a page."""
    text = (HOW_TO / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_embedding_page_runs_as_written(tmp_path: Path) -> None:
    with_loop, script, in_a_test = blocks("embed.md", "python")
    data = str(tmp_path / "data")

    created = output_of(sys.executable, "-c", with_loop, PHONEPROV_DATA_DIR=data, folder=tmp_path)
    scripted = output_of(sys.executable, "-c", script, PHONEPROV_DATA_DIR=data, folder=tmp_path)
    output_of(sys.executable, "-c", in_a_test, folder=tmp_path)

    assert created.startswith("ada was created at 2")
    assert created.endswith("00:1B:D4:12:34:56\n")
    assert scripted == "00:1B:D4:12:34:56: This mac is already in use.\n"


def test_driver_page_runs_as_written(tmp_path: Path) -> None:
    for code in blocks("write-a-driver.md", "python"):
        name = code.split("\n", 1)[0].removeprefix("# ")
        (tmp_path / name).write_text(code, encoding="utf-8")
    [project] = blocks("write-a-driver.md", "toml")

    output = output_of(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".", folder=tmp_path
    )
    module, name = re.findall(r'power = "(\w+):(\w+)"', project)[0]
    output_of(sys.executable, "-c", f"from {module} import {name}", folder=tmp_path)

    assert re.search(r"\d\d? passed", output)
    assert "failed" not in output
    assert "phoneprov.phones" in project


def test_asterisk_page_runs_as_written(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hush\n", encoding="utf-8")
    script = "\n".join(blocks("asterisk.md", "sh"))
    exports = re.findall(r"(PHONEPROV_\w+)=(\S+)", script)
    variables = {name: str(secret) if name.endswith("_FILE") else value for name, value in exports}

    settings = read_settings(variables)

    assert len(exports) >= 8
    assert settings.manager is not None
    assert settings.manager.secret == "hush"
    assert (settings.ftp.host, settings.ftp.tls) == ("provisioning.example.com", "explicit")
    assert settings.ftp.password == "hush"
    assert isinstance(phone_driver_of(settings), CiscoPhones)
    # Every action of phoneprov needs one of these (manager.conf: write).
    [account] = blocks("asterisk.md", "ini")
    assert "write = system,reporting" in account
    # `permit` without `deny` admits every address.
    assert account.index("deny = 0.0.0.0/0.0.0.0") < account.index("permit = ")
