"""``switch``, ``preview``, ``history``, ``rollback``: real FTP and HTTP to a simulated phone."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.sql.stores.switching import SqlDeployments
from phoneprov_core.features.fleet.model import ReplacePhone
from phoneprov_core.kernel.errors import DiskFull, TimedOut
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.devices.ports import Upload, Uploaded
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.command_line import Commands, spawn_on_terminal
from support.desk import (
    ADA,
    BOB,
    FILE,
    MAC,
    NAMESAKE,
    configuration,
    phone_beside,
    populate,
    press_without_pauses,
    settings_for,
)

NO_USER = "00000000-0000-4000-8000-ffffffffffff"


class Desk(Commands):
    """Commands, with the settings that reach the desk."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        # A restart takes a second, and most tests need none.
        super().__init__({**environment, "PHONEPROV_RESTART": "none"})
        self._folder = folder

    def on_phone(self) -> str:
        return (self._folder / FILE).read_text("utf-8")


@pytest.fixture(scope="module")
def populated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("populated")
    populate({"PHONEPROV_DATA_DIR": str(folder)})
    return folder


@pytest.fixture
def desk(populated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    press_without_pauses(monkeypatch)
    shutil.copytree(populated, tmp_path / "data")
    with phone_beside(tmp_path / "phone") as phone:
        yield Desk(settings_for(phone, tmp_path / "data"), tmp_path / "phone")


def refused(done: Result, *words: str, code: int = 1) -> None:
    assert done.exit_code == code
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("phoneprov: ")
    for word in words:
        assert word in line


def test_switch_waits_for_the_phone_to_register_again(desk: Desk) -> None:
    done = desk.run("switch", ADA, "001bd4123456", PHONEPROV_RESTART="http")

    assert (done.exit_code, done.stderr) == (0, "")
    assert f"{ADA}, revision 1, is on {MAC}" in done.stdout
    assert "restarted, confirmed: The phone was away for" in done.stdout
    steps = [line.split("  ")[0] for line in done.stdout.splitlines() if " done " in line]
    assert steps == ["upload", "clear the services", "restart"]
    assert desk.on_phone() == configuration(ADA)
    (row,) = desk.json("history", MAC)
    assert (row["confirmation"], row["user_uuid"]) == (
        "confirmed",
        f"{'0' * 8}-0000-0000-0000-{'0' * 12}",
    )


def test_phone_without_restart_sets_the_exit_code(desk: Desk) -> None:
    done = desk.run("switch", ADA, MAC)

    assert done.exit_code == 3
    assert "FAILED" in done.stdout
    assert "restarts are switched off" in done.stdout
    assert desk.on_phone() == configuration(ADA)


def test_phone_is_not_watched_without_wait(desk: Desk) -> None:
    done = desk.run("switch", BOB, MAC, "--no-wait", "--json", PHONEPROV_RESTART="http")

    made = json.loads(done.stdout)
    assert (done.exit_code, made["restart"], made["confirmation"]) == (0, "ok", "none")


def test_failed_switch_prints_the_reason_in_one_line(desk: Desk) -> None:
    desk.run("switch", ADA, MAC)

    refused(desk.run("switch", BOB, MAC, PHONEPROV_FTP_PASSWORD="wrong"), "refused the user")
    refused(desk.run("switch", "Unknown", MAC), "no profile called 'Unknown'")
    refused(desk.run("switch", NAMESAKE, MAC), "2 profiles", "uuid")
    refused(desk.run("switch", NO_USER, MAC), "no such profile")
    refused(desk.run("switch", ADA, "00:1B:D4:00:00:01"), "no such phone")
    assert desk.on_phone() == configuration(ADA)


def test_switch_unknown_outcome_has_its_own_exit_code(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def upload(self: FtpUploader, upload: Upload) -> Uploaded:
        raise TimedOut("The server is gone.", code=OUTCOME_UNKNOWN)

    desk.run("switch", ADA, MAC)
    with monkeypatch.context() as patched:
        patched.setattr(FtpUploader, "upload", upload)
        refused(desk.run("switch", BOB, MAC), "The server is gone.", code=4)
        refused(desk.run("rollback", MAC, "--deployment", "1"), "The server is gone.", code=4)

    history = desk.run("history", MAC).stdout
    assert history.count("outcome unknown") == 2
    assert "the file is from that deployment" in desk.run("preview", ADA, MAC).stdout


def test_switch_waits_until_its_record_is_stored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, failures = SqlDeployments.put, [DiskFull()] * 2

    async def failing(self: SqlDeployments, entity: Deployment) -> None:
        if entity.ended_at is not None and failures:
            raise failures.pop()
        await put(self, entity)

    monkeypatch.setattr("phoneprov_core.switching.deployments.deploy.CLOSING_SECONDS", 0.1)
    monkeypatch.setattr(SqlDeployments, "put", failing)
    done = desk.run("switch", ADA, MAC, "--json")

    made = json.loads(done.stdout)
    assert (done.exit_code, made["outcome"], failures) == (3, "deployed", [])  # no restart
    assert [row["outcome"] for row in desk.json("history")] == ["deployed"]


def test_record_that_is_never_stored_has_its_own_sentence_and_exit_code(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = SqlDeployments.put

    async def failing(self: SqlDeployments, entity: Deployment) -> None:
        if entity.ended_at is not None:
            raise DiskFull
        await put(self, entity)

    monkeypatch.setattr("phoneprov_core.switching.deployments.deploy.CLOSING_SECONDS", 0.1)
    monkeypatch.setattr("phoneprov_http.main.commands.switching.switch.LEASE_SECONDS", 0.1)
    monkeypatch.setattr("phoneprov_adapters.composition.lifecycle.DRAIN_SECONDS", 0.1)
    monkeypatch.setattr(SqlDeployments, "put", failing)
    refused(desk.run("switch", ADA, MAC), "The configuration is in place", code=3)
    assert desk.on_phone() == configuration(ADA)


def test_invalid_mac_is_a_usage_error(desk: Desk) -> None:
    for command in (("switch", ADA), ("preview", ADA), ("history",), ("rollback",)):
        done = desk.run(*command, "nonsense")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "phoneprov: Invalid value for '" in done.stderr


def test_history_of_a_phone_marks_the_current_deployment(desk: Desk) -> None:
    empty = desk.run("history", MAC)
    desk.run("switch", ADA, MAC)
    desk.run("switch", BOB, MAC, PHONEPROV_FTP_PASSWORD="wrong")
    desk.run("switch", BOB, MAC)

    printed = desk.run("history", MAC)

    assert empty.stdout == "No deployments found.\n"
    head, *rows = printed.stdout.splitlines()
    assert head.split() == ["No.", "When", "By", "Profile", "Rev.", "Outcome"]
    assert [row.startswith("*") for row in rows] == [False, False, True]
    assert "operator" in rows[0]
    assert "failed at upload: The FTP server" in rows[1]
    assert [row["number"] for row in desk.json("history")] == [1, 2, 3]
    assert [row["number"] for row in desk.json("history", "--limit", "2")] == [2, 3]
    assert [row["number"] for row in desk.json("history", "--current")] == [3]
    assert [row["number"] for row in desk.json("history", "--outcome", "failed")] == [2]
    assert [row["number"] for row in desk.json("history", MAC, "--profile", ADA)] == [1]
    assert MAC in desk.run("history").stdout
    refused(desk.run("history", "00:1B:D4:00:00:01"), "no such phone")


def test_history_of_a_replaced_phone_names_both(desk: Desk) -> None:
    new = "00:1B:D4:00:00:01"

    async def replaced() -> None:
        async with open_phoneprov(read_settings(desk.environment)) as phoneprov:
            await phoneprov.change_fleet.replace(
                phoneprov.system_actor(), MAC, ReplacePhone(mac=new)
            )

    for name in (ADA, BOB):
        desk.run("switch", name, MAC)
    asyncio.run(replaced())
    desk.run("switch", ADA, new)

    rows = [row.strip(" *").split()[:2] for row in desk.run("history", new).stdout.splitlines()]
    assert rows == [["Phone", "No."], [MAC, "1"], [MAC, "2"], [new, "4"]]


def test_rollback_restores_the_previous_or_a_given_deployment(desk: Desk) -> None:
    refused(desk.run("rollback", MAC), "no earlier deployment")
    for name in (ADA, BOB):
        desk.run("switch", name, MAC)

    done = desk.run("rollback", MAC)

    assert done.exit_code == 3  # not restarted, as above
    assert desk.on_phone() == configuration(ADA)
    assert "rollback: deployed" in desk.run("history", MAC).stdout
    made = desk.json("rollback", MAC, "--deployment", "2")
    assert (made["action"], desk.on_phone()) == ("rollback", configuration(BOB))
    desk.run("rollback", MAC, "--profile", ADA, "--revision", "1")
    assert desk.on_phone() == configuration(ADA)
    desk.run("rollback", MAC, "--deployment", made["uuid"])
    assert desk.on_phone() == configuration(BOB)
    refused(desk.run("rollback", MAC, "--deployment", "9"), "no deployment number 9")
    refused(desk.run("rollback", MAC, "--deployment", NO_USER), "no such deployment")
    refused(desk.run("rollback", MAC, "--profile", ADA, "--revision", "9"), "no such revision")
    assert desk.run("rollback", MAC, "--profile", ADA).exit_code == 2
    assert desk.run("rollback", MAC, "--deployment", "1", "--profile", ADA).exit_code == 2


def test_rollback_to_the_text_of_an_inactive_user_needs_force(desk: Desk, tmp_path: Path) -> None:
    for name in (ADA, BOB):
        desk.run("switch", name, MAC)

    async def deactivate() -> None:
        settings = read_settings({"PHONEPROV_DATA_DIR": str(tmp_path / "data")})
        async with open_phoneprov(settings) as use_cases:
            for user in (await use_cases.users.all(use_cases.system_actor())).first:
                patch = UserPatch(is_active=False)
                await use_cases.users.update(use_cases.system_actor(), user.uuid, patch)

    asyncio.run(deactivate())

    refused(desk.run("rollback", MAC), "is not active. With force, level 0")
    assert desk.on_phone() == configuration(BOB)
    desk.run("rollback", MAC, "--force")
    assert desk.on_phone() == configuration(ADA)


def test_preview_shows_the_changes_and_applies_none(desk: Desk) -> None:
    desk.run("switch", ADA, MAC)

    done = desk.run("preview", BOB, MAC, PHONEPROV_FTP_HOST="127.0.0.1")

    assert (done.exit_code, done.stderr) == (0, "")
    assert "reachable: Logged in on 127.0.0.1:" in done.stdout
    assert "reachable: The phone answers: CP-7945G." in done.stdout
    assert f"{FILE}:5:3: note: sshPassword contains a secret" in done.stdout
    assert f"-  <phonePersonalization>{ADA}</phonePersonalization>" in done.stdout
    assert "+  <sshPassword>***2</sshPassword>" in done.stdout
    assert f"of {ADA}" not in done.stdout
    assert desk.on_phone() == configuration(ADA)
    assert len(desk.json("history")) == 1
    assert desk.json("preview", ADA, MAC)["diff"] == ""


def test_preview_fails_if_the_switch_would_fail(desk: Desk) -> None:
    assert desk.run("preview", ADA, MAC).exit_code == 0
    server = {"PHONEPROV_FTP_HOST": "127.0.0.1", "PHONEPROV_FTP_PASSWORD": "wrong"}
    wrong = desk.run("preview", ADA, MAC, **server)

    assert wrong.exit_code == 1
    assert "NOT REACHABLE" in wrong.stdout
    refused(desk.run("preview", "Unknown", MAC), "no profile called")


def test_steps_are_shown_on_a_terminal_only(desk: Desk) -> None:
    code, output, terminal = spawn_on_terminal("switch", ADA, MAC, **desk.environment)

    assert code == 3
    assert b"upload" in terminal
    assert b"restart" in terminal
    assert b"\x1b" not in output
