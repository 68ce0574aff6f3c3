"""``phoneprov batch``: real FTP to simulated phones, output, exit codes, JSON for scripts."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.inventory.phones.model import CreatePhone
from support.command_line import Commands
from support.desk import ADA, MAC, configuration, phone_beside, populate, settings_for
from support.records import a_mac

NO_USER = "00000000-0000-4000-8000-ffffffffffff"


class Floor(Commands):
    """Commands, with the settings that reach the phones."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        super().__init__({**environment, "PHONEPROV_RESTART": "none"}, "batch")
        self.folder = folder


@pytest.fixture(scope="module")
def populated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("populated")
    environment = {"PHONEPROV_DATA_DIR": str(folder)}
    populate(environment)

    async def add_three_phones() -> None:
        async with open_phoneprov(read_settings(environment)) as phoneprov:
            for number in (1, 2, 3):
                phone = CreatePhone(
                    mac=a_mac(number),
                    phone_ip="127.0.0.1" if number < 3 else None,
                    location="Floor",
                )
                await phoneprov.phones.create(phoneprov.system_actor(), phone)

    asyncio.run(add_three_phones())
    return folder


@pytest.fixture
def floor(populated: Path, tmp_path: Path) -> Iterator[Floor]:
    shutil.copytree(populated, tmp_path / "data")
    with phone_beside(tmp_path / "phone") as phone:
        yield Floor(settings_for(phone, tmp_path / "data"), tmp_path / "phone")


def test_batch_of_a_filter_is_started_and_shown(floor: Floor) -> None:
    done = floor.run("start", "switch", "--profile", ADA, "--mac", a_mac(1), "--mac", MAC)

    assert done.exit_code == 0
    assert "is done." in done.stdout
    assert "Of 2 phones: 2 done." in done.stdout
    files = sorted(path.name for path in floor.folder.iterdir())
    assert files == ["SEP001BD4000001.cnf.xml", "SEP001BD4123456.cnf.xml"]
    assert (floor.folder / files[0]).read_text("utf-8") == configuration(ADA)
    assert done.stderr == ""  # it is not a terminal


def test_batch_progress_is_shown_on_a_terminal(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("phoneprov_http.main.commands.local_access.sys", terminal)

    done = floor.run("start", "switch", "--profile", ADA, "--mac", MAC)

    assert "1/1" in done.stderr


def test_failed_phone_sets_the_exit_code(floor: Floor) -> None:
    done = floor.run("start", "switch", "--profile", ADA, "--location", "floor")

    assert done.exit_code == 1
    assert "Of 3 phones: 2 done, 1 failed." in done.stdout
    (batch,) = floor.lines("show")
    shown = floor.run("show", batch["uuid"], "--state", "failed").stdout
    assert a_mac(3) in shown
    assert "no recorded address" in shown
    assert a_mac(1) not in shown


def test_batch_json_prints_one_object_per_line(floor: Floor) -> None:
    given = f"{a_mac(1)}\n\nSEP001bd4000003\n"
    (batch,) = floor.lines("start", "switch", "--profile", ADA, "--macs-from", "-", stdin=given)

    assert (batch["state"], batch["phones"]["done"], batch["phones"]["failed"]) == ("done", 1, 1)
    seen, first, second = floor.lines("show", batch["uuid"], "--follow")
    assert seen == batch
    assert (first["mac"], first["state"]) == (a_mac(1), "done")
    assert (second["mac"], second["state"]) == (a_mac(3), "failed")


def test_detached_batch_waits_for_the_service(floor: Floor) -> None:
    left = floor.run("start", "restart", "--mac", MAC, "--detach")
    assert left.exit_code == 0
    assert "was created for the service" in left.stdout
    (batch,) = floor.lines("show")

    cancelled = floor.run("cancel", batch["uuid"])

    assert cancelled.exit_code == 0
    assert f"The batch {batch['uuid']} (restart) is" in cancelled.stdout


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("start", "switch", "--profile", "Unknown", "--location", "floor"), "Unknown", 1),
        (("start", "restart", "--location", "cellar"), "No active phone matches", 1),
        (("start", "restart"), "Select phones with --mac, --macs-from", 2),
        (("start", "restart", "--macs-from", "/dev/null"), "/dev/null names no phone", 2),
        (("start",), "switch, restart. See '", 2),
        (("start", "restart", "--location", "floor", "--at-once", "0"), "--at-once must be", 2),
        (("show", NO_USER), "no such batch", 1),
        (("cancel", NO_USER), "no such batch", 1),
    ],
)
def test_batch_usage_error_is_one_line(
    floor: Floor, arguments: tuple[str, ...], words: str, code: int
) -> None:
    done = floor.run(*arguments)

    assert done.exit_code == code
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("phoneprov: ")
    assert words in line
