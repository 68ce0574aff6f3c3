"""``phoneprov join``, ``leave`` and ``undo``."""

from pathlib import Path

import pytest

from support.command_line import Commands
from support.desk import MAC, populate

HEAD = "username,first_name,last_name,email,pin\n"
TWELVE = HEAD + "".join(f"p{n},Pat,Number{n},p{n}@office.example,yes\n" for n in range(1, 13))


@pytest.fixture
def office(tmp_path: Path) -> Commands:
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path)}
    populate(environment)
    return Commands(environment)


def numbers(office: Commands) -> list[str]:
    output = office.run("export", "extensions", "-").stdout
    return [line.split(",")[0] for line in output.splitlines()[1:]]


def test_join_of_twelve_from_a_table_is_foretold_written_and_undone(office: Commands) -> None:
    foretold = office.run("join", "-", "--block", "300-349", "--dry-run", stdin=TWELVE)
    assert (foretold.exit_code, "Nothing was written." in foretold.stdout) == (0, True)
    assert numbers(office) == []

    done = office.run("join", "-", "--block", "300-349", stdin=TWELVE)

    assert done.exit_code == 0, done.output
    people = [line for line in done.stdout.splitlines() if line.startswith("p")]
    assert [line.split(", PIN ")[0] for line in people] == [
        f"p{n}, number {299 + n}" for n in range(1, 13)
    ]
    assert len({line.split(", PIN ")[1] for line in people}) == 12
    act = done.stdout.split("phoneprov undo ")[1].strip()
    assert len(numbers(office)) == 12
    undone = office.run("undo", act)
    assert (undone.exit_code, undone.stdout.count("is deleted, with links")) == (0, 12)
    assert numbers(office) == []
    again = office.run("undo", act)
    assert (again.exit_code, "Nothing was written." in again.stdout) == (0, True)


def test_join_with_wrong_lines_names_each_line_and_writes_nothing(office: Commands) -> None:
    table = f"{HEAD}a,A,B,no address,yes\nb,A,B,b@office.example,perhaps\n"
    refused = office.run("join", "-", stdin=table)
    assert refused.exit_code == 1
    assert "stdin:2: email must be an e-mail address." in refused.stderr
    assert "stdin:3: pin" in refused.stderr
    taken = office.run("join", "-", stdin=f"{HEAD}a,A,B,same@x.ch,no\nb,A,B,same@x.ch,no\n")
    assert "stdin:3: email is that of line 2 too." in taken.stderr
    assert "Nothing was written." in taken.stderr
    empty = office.run("join", "-", stdin=HEAD)
    assert (empty.exit_code, "The table has no people" in empty.stderr) == (1, True)


def test_leave_hands_over_and_a_phone_that_fails_is_exit_code_1(office: Commands) -> None:
    office.run("join", "-", "--block", "300-349", stdin=TWELVE)
    table = "username,hand_over_to\np1,p2\np3,\n"
    foretold = office.run("leave", "-", "--dry-run", stdin=table)
    assert "300 is p2's, with another password;" in foretold.stdout
    left = office.json("leave", "-", stdin=table)
    assert [one["username"] for one in left["people"]] == ["p1", "p3"]
    assert office.run("leave", "-", "--vacant", "no such profile", stdin=table).exit_code == 1
    assert office.run("undo", "not a uuid").exit_code == 2

    template = Path(office.environment["PHONEPROV_DATA_DIR"]) / "office.xml"
    template.write_text("<device/>", encoding="utf-8")
    office.run("template", "add", str(template), "--name", "office")
    office.run("desk", "set-default", MAC, "--none")
    desk = f"username,first_name,last_name,email,template,mac\nd,D,E,d@x.ch,office,{MAC}\n"
    failed = office.run("join", "-", stdin=desk, PHONEPROV_FTP_HOST="127.0.0.1:1")
    assert failed.exit_code == 1
    assert f"! {MAC}" in failed.stdout
    assert "phoneprov undo" in failed.stdout
