"""``phoneprov import profiles`` and ``phoneprov profile``."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import Settings, read_settings
from phoneprov_core.inventory.profiles.model import Profile
from phoneprov_core.people.users.model import CreateUser
from phoneprov_http.main.cli import main
from support.data_folder import populate

CONFIGURATION = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with the user ada, and the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(tmp_path / "data"))

    async def create_ada() -> None:
        async with open_phoneprov(settings()) as use_cases:
            new = CreateUser(
                username="ada", first_name="A", last_name="L", email="a@b.ch",
                password="an engine of brass",
            )  # fmt: skip
            await use_cases.users.create(use_cases.system_actor(), new)

    populate(tmp_path / "data")
    asyncio.run(create_ada())
    return tmp_path


def settings() -> Settings:
    return read_settings(os.environ)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def profiles() -> dict[str, Profile]:
    async def read() -> dict[str, Profile]:
        async with open_phoneprov(settings()) as use_cases:
            listed = await use_cases.profiles.all(use_cases.system_actor())
            return {one.name: one async for piece in listed for one in piece}

    return asyncio.run(read())


def test_import_folder_with_a_pipe_reports_it_and_does_not_wait(folder: Path) -> None:
    tftp = folder / "tftp"
    tftp.mkdir()
    os.mkfifo(tftp / "SEP001BD4123456.cnf.xml")

    done = run("import", "profiles", "tftp", "--user", "ada")

    assert done.exit_code == 1
    assert "SEP001BD4123456.cnf.xml is not a file" in done.output


def test_profiles_of_a_folder_can_be_imported_again(folder: Path) -> None:
    tftp = folder / "tftp"
    tftp.mkdir()
    (tftp / "SEP001BD4123456.cnf.xml").write_bytes(b"\xef\xbb\xbf" + CONFIGURATION.encode())
    (tftp / "sep001bd4123457.cnf.xml").write_text(CONFIGURATION)
    (tftp / "XMLDefault.cnf.xml").write_text("<Default/>")
    (tftp / "ringlist.xml").write_text("nonsense")

    dry = run("import", "profiles", "tftp", "--user", "ada", "--dry-run")
    assert profiles() == {}
    first = run("import", "profiles", "tftp", "--user", "ada")
    (tftp / "SEP001BD4123456.cnf.xml").write_text("<device/>")
    again = run("import", "profiles", "tftp", "--user", "ada")

    assert dry.stdout == "Dry run, nothing was written: 2 new, 0 changed, 0 unchanged, 0 wrong.\n"
    assert first.stdout == "Imported: 2 new, 0 changed, 0 unchanged, 0 wrong.\n"
    assert again.stdout == "Imported: 0 new, 1 changed, 1 unchanged, 0 wrong.\n"
    assert sorted(profiles()) == ["SEP001BD4123456", "sep001bd4123457"]
    assert profiles()["SEP001BD4123456"].cnf_xml == "<device/>"


@pytest.mark.parametrize("how", [(), ("--dry-run",)])
def test_files_of_a_folder_that_are_left_out_are_named(folder: Path, how: tuple[str, ...]) -> None:
    tftp = folder / "tftp"
    tftp.mkdir()
    (tftp / "SEP001BD4123456.cnf.xml").write_text(CONFIGURATION)
    left_out = [
        "ATA001BD4123456.cnf.xml",
        "Copy of SEP001BD4123456.cnf.xml",
        "SEP 001BD4123456.cnf.xml",
        "SEP001BD4123456.cnf (1).xml",
        "SEP001BD4123456.cnf.xml.bak",
        "SEP001BD4123456.cnf.xml~",
        "SEP001BD4123456.xml",
        "SEP001BD412345G.cnf.xml",
        "SEP001BD412345.cnf.xml",
        "SEPMAC.cnf.xml",
        "SIP001BD4123456.cnf",
        "XMLDefault.cnf.xml",
        "sep00-1b-d4-12-34-56.cnf.xml",
    ]
    for name in (*left_out, "ringlist.xml", "CTLSEP001BD4123456.tlv", ".SEP001BD4123457.cnf.xml"):
        (tftp / name).write_text("x")

    done = run("import", "profiles", "tftp", "--user", "ada", *how)

    lines = done.stderr.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        f"Left out: {one}" for one in sorted(left_out)
    ]
    assert (done.exit_code, "1 new" in done.stdout) == (0, True)


def test_folder_without_a_configuration_names_what_it_has(folder: Path) -> None:
    (folder / "SEP001BD412345.cnf.xml").write_text(CONFIGURATION)

    done = run("import", "profiles", ".", "--user", "ada")

    assert done.exit_code == 2
    assert "Left out: SEP001BD412345.cnf.xml" in done.stderr
    assert "contains no SEP*.cnf.xml" in done.stderr


def test_profiles_wrong_file_stops_the_import_and_is_named(folder: Path) -> None:
    (folder / "SEP001BD4123456.cnf.xml").write_text(CONFIGURATION)
    (folder / "SEP001BD4123457.cnf.xml").write_text("<device>")
    (folder / "SEP001BD4123458.cnf.xml").write_bytes(b"<device>\xff</device>")

    stopped = run("import", "profiles", ".", "--user", "ada")
    assert profiles() == {}
    going = run("import", "profiles", ".", "--user", "ada", "--keep-going")

    assert (stopped.exit_code, going.exit_code) == (1, 1)
    lines = stopped.stderr.splitlines()
    assert lines[0].startswith("SEP001BD4123457.cnf.xml: cnf_xml ")
    assert "line 1" in lines[0]
    assert lines[1].startswith("SEP001BD4123458.cnf.xml: file SEP001BD4123458.cnf.xml is not in")
    assert list(profiles()) == ["SEP001BD4123456"]


def test_profiles_over_the_maximum_are_reported_with_the_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHONEPROV_MOST_PROFILES", "1")
    (folder / "SEP001BD4123456.cnf.xml").write_text(CONFIGURATION)
    (folder / "SEP001BD4123457.cnf.xml").write_text(CONFIGURATION)

    stopped = run("import", "profiles", ".", "--user", "ada")

    assert stopped.stderr == (
        "SEP001BD4123457.cnf.xml: This user has 1 profiles, the maximum; delete one, "
        "or raise PHONEPROV_MOST_PROFILES.\n"
    )


def test_profiles_csv_names_files_and_fields(folder: Path) -> None:
    (folder / "a.xml").write_text(CONFIGURATION)
    (folder / "p.csv").write_text(
        "Username;Name;File;Compatible models;Software type\n"
        "ada;Front desk;a.xml;7945, 7965;sccp\n"
        "bob;Library;a.xml;;\n"
        "ada;Hall;missing.xml;;\n"
    )

    done = run("import", "profiles", "p.csv", "--keep-going")

    assert done.stderr.splitlines() == [
        "p.csv:3: username is the name of no user.",
        "p.csv:4: file missing.xml cannot be read (No such file or directory).",
    ]
    assert profiles()["Front desk"].compatible_models == ("7945", "7965")
    assert profiles()["Front desk"].software_type == "SCCP"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "profiles", "a.xml"), "--user is required"),
        (("import", "profiles", "a.xml", "--user", "eve"), "--user: there is no user"),
        (("import", "profiles", "empty", "--user", "ada"), "no SEP*.cnf.xml"),
        (("import", "profiles", "bad.csv"), "colour is not a column"),
        (("import", "profiles", "-", "--user", "ada"), "not standard input"),
        (("import", "phones", "empty"), "only profiles"),
        (("profile", "add", "bad.xml", "--user", "ada"), "FILE: "),
    ],
)
def test_profiles_usage_error_is_one_line(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "a.xml").write_text(CONFIGURATION)
    (folder / "bad.xml").write_text("<device>")
    (folder / "bad.csv").write_text("file,colour\n")
    (folder / "empty").mkdir()

    done = run(*arguments)

    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_profile_is_added_and_updated(folder: Path) -> None:
    (folder / "SEP001BD4123456.cnf.xml").write_text(CONFIGURATION)
    (folder / "new.xml").write_text("<device/>")

    added = run("profile", "add", "SEP001BD4123456.cnf.xml", "--user", "Ada", "--model", "7945")
    updated = run("profile", "update", "new.xml", "--profile", "SEP001BD4123456")
    shown = run("profile", "update", "new.xml", "--profile", "SEP001BD4123456", "--json")

    assert added.stdout.startswith("The profile 'SEP001BD4123456' of Ada was added: ")
    assert updated.stdout == "The profile 'SEP001BD4123456' has revision 2.\n"
    assert json.loads(shown.stdout)["cnf_xml"] == "<device/>"
    assert json.loads(shown.stdout)["compatible_models"] == ["7945"]
