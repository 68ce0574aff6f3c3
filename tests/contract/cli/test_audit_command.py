"""``phoneprov audit`` over a real database."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from phoneprov_http.main.cli import main


def run(folder: Path, *arguments: str, stdin: str | None = None) -> Result:
    environment = {"PHONEPROV_DATA_DIR": str(folder), "COLUMNS": "240"}
    return CliRunner().invoke(main, arguments, env=environment, input=stdin, catch_exceptions=False)


def test_audit_shows_changes_of_the_command_line(tmp_path: Path) -> None:
    account = ("create-admin", "--username", "ada", "--email", "ada@example.com")
    made = run(tmp_path, *account, "--password-stdin", stdin="a pass-phrase of the tests\n")
    assert made.exit_code == 0, made.output

    lines = [json.loads(line) for line in run(tmp_path, "audit", "--json").stdout.splitlines()]

    assert {line["action"] for line in lines} == {
        "user.created",
        "permission.created",
        "assignment.created",
    }
    assert {line["actor"] for line in lines} == {"system"}
    assert {line["traceparent"] for line in lines} == {None}
    (user,) = [line for line in lines if line["action"] == "user.created"]
    assert user["changes"]["password"] == "changed"
    shown = run(tmp_path, "audit", "--action", "user.created").stdout
    assert "username: ada" in shown
    assert len(run(tmp_path, "audit", "--json", "--limit", "2").stdout.splitlines()) == 2
    assert run(tmp_path, "audit", "--resource", "phone").stdout == "No audit entries found.\n"
    wrong = run(tmp_path, "audit", "--since", "yesterday")
    assert wrong.exit_code == 1
    assert "since" in wrong.stderr
