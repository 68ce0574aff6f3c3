"""The commands of the how-to about rollbacks print the shown output.

In the shown output, ``...`` in or at the end of a line stands for any text, and alone on a line for
any lines.
"""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_http.main.cli import main
from support.desk import (
    ADA,
    MAC,
    change,
    configuration,
    phone_beside,
    populate,
    press_without_pauses,
    settings_for,
)

PAGE = Path(__file__).parents[3] / "docs/how-to/put-back.md"
SHOWN = re.compile(r"^( *)```console\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """Each command with its shown output."""
    found = []
    for indent, block in SHOWN.findall(PAGE.read_text("utf-8")):
        lines = [line.removeprefix(indent) for line in block.splitlines()]
        assert lines[0].startswith("$ phoneprov ")
        found.append((lines[0].removeprefix("$ phoneprov "), "\n".join(lines[1:])))
    return found


def pattern(shown: str) -> str:
    """A pattern for the shown output; columns may be wider, since times and places differ."""
    lines = [
        "(?:.*\n)*?" if line == "..." else re.sub(r"(?:\\ )+", r" +", _escaped(line)) + r" *\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


def _escaped(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("..."))


def test_put_back_page_commands_print_the_shown_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = configuration(ADA).replace("<webAccess>0<", "<webAccess>true<")
    monkeypatch.chdir(tmp_path)
    press_without_pauses(monkeypatch)
    Path("new.cnf.xml").write_text(wrong, "utf-8")
    with phone_beside(tmp_path / "phone") as phone:
        environment = {**settings_for(phone, tmp_path / "data"), "COLUMNS": "120"}
        populate(environment)
        runner = CliRunner(env=environment)
        assert runner.invoke(main, ["switch", ADA, MAC]).exit_code == 0
        change(environment, ADA, wrong)
        assert runner.invoke(main, ["switch", ADA, MAC]).exit_code == 0
        codes = []
        for command, shown in commands():
            done = runner.invoke(main, shlex.split(command), catch_exceptions=False)
            assert re.fullmatch(pattern(shown), done.stdout), f"{command}\n{done.stdout}"
            codes.append(done.exit_code)

    assert codes == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a  b ... c", "a b 1 2 c   \n", True),
        ("a\n...\nc", "a\nb\nb\nc\n", True),
        ("a\n...\nc", "a\nc\n", True),
        ("a\n...\nc", "a\nb\nd\n", False),
        ("a b", "a c\n", False),
        ("a", "a\nb\n", False),
        ("a (b)", "a b\n", False),
    ],
)
def test_put_back_page_pattern_matches_the_shown_output_only(
    shown: str, printed: str, agree: bool
) -> None:
    assert bool(re.fullmatch(pattern(shown), printed)) == agree
