"""``phoneprov lint``: findings in the format of compilers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_http.main.cli import main
from phoneprov_http.main.commands.terminal import print_json, printable
from support.desk import configuration

# None of these settings may be read: an invalid one would be an error.
NO_SETTINGS = {"PHONEPROV_FTP_PORT": "abc", "PHONEPROV_DATA_DIR": "/nowhere/at/all"}
GOOD = (
    configuration("Ada")
    .replace("<sshPassword>of Ada</sshPassword>", "")
    .replace(
        "</device>",
        "<servicesURL>http://10.0.0.2/phone/services</servicesURL>"
        "<authenticationURL>http://10.0.0.2/phone/authentication</authenticationURL></device>",
    )
)


def lint(*arguments: str | Path, stdin: str = "") -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(
        main, ["lint", *words], env=NO_SETTINGS, input=stdin, catch_exceptions=False
    )


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.xml"
    file.write_text(GOOD, "utf-8")
    return file


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "SEP001BD4123456.cnf.xml"
    file.write_text(
        GOOD.replace("<webAccess>0<", "<webAccess>true<").replace("Ada", "SEP001BD4999999"), "utf-8"
    )
    return file


def test_lint_without_findings_prints_nothing(good: Path) -> None:
    done = lint(good)

    assert (done.exit_code, done.output) == (0, "")


def test_lint_findings_are_sorted_by_position(good: Path, bad: Path) -> None:
    done = lint(good, bad)

    assert done.exit_code == 1
    warning, error = done.stdout.splitlines()
    assert warning.startswith(f"{bad}:4:3: warning: ")
    assert warning.endswith(" [other_phone]")
    assert error.startswith(f"{bad}:12:17: error: webAccess is a number")
    assert done.stderr == "1 error(s), 1 warning(s) in 2 file(s)\n"


def test_lint_warnings_fail_with_strict_option(bad: Path) -> None:
    bad.write_text(bad.read_text("utf-8").replace("true", "0"), "utf-8")

    assert lint(bad).exit_code == 0
    assert lint("--strict", bad).exit_code == 1
    # --mac replaces the MAC of the file name.
    assert lint("--strict", "--mac", "001bd4999999", bad).exit_code == 0
    assert "other_protocol" in lint("--family", "SIP", bad).stdout


def test_lint_json_is_printed(good: Path, bad: Path) -> None:
    reports = json.loads(lint("--json", good, bad).stdout)

    assert [one["file"] for one in reports] == [str(good), str(bad)]
    assert reports[0]["findings"] == []
    assert [finding["severity"] for finding in reports[1]["findings"]] == ["warning", "error"]
    assert set(reports[1]["findings"][0]) == {"severity", "line", "column", "code", "message"}


def test_lint_reads_standard_input(good: Path) -> None:
    assert lint("-", stdin=GOOD).exit_code == 0
    assert lint("-", stdin="<device>").stdout.startswith("-:1:9: error: ")


def test_lint_unreadable_file_is_a_usage_error(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.xml", tmp_path):
        done = lint(path)
        assert (done.exit_code, done.stdout) == (2, "")
    assert lint().exit_code == 2


def test_lint_endless_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    huge = tmp_path / "huge.xml"
    with huge.open("wb") as file:
        file.truncate(LARGEST * 100)

    assert "[too_large]" in lint(huge).stdout


def test_lint_command_writes_no_files(tmp_path: Path, bad: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "phoneprov_http.main", "lint", bad.name],
        cwd=tmp_path, env=NO_SETTINGS, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stdout.startswith(f"{bad.name}:4:3: warning: ")
    assert list(tmp_path.iterdir()) == [bad]


def test_printable_escapes_control_characters() -> None:
    assert printable("a\tb\u00e9 \U0001f4de") == "a\tb\u00e9 \U0001f4de"
    assert printable("\x1b[2J \x9b2J \x85 \x7f \r\n") == "\\x1b[2J \\x9b2J \\x85 \\x7f \\r\\n"
    assert printable("\u202e\u2066 \ud800") == "\\u202e\\u2066 ?"


def test_print_json_escapes_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    thing = {"diff": "\x1b \x9b \x7f \u202e \u00e9"}

    print_json(thing)

    printed = capsys.readouterr().out
    assert json.loads(printed) == thing
    assert not {"\x1b", "\x9b", "\x7f", "\u202e"} & set(printed)
    assert "\u00e9" in printed
