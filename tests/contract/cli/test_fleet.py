"""``phoneprov fleet`` and ``phoneprov watch``."""

import asyncio
import json
import signal
from pathlib import Path

from click.testing import CliRunner

from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_http.main.cli import main
from support.command_line import without_settings
from support.forked_commands import Forked
from support.phone_records import a_phone
from support.records import a_mac

AT = "2026-01-31T08:15:30.250Z"


def office(folder: Path) -> dict[str, str]:
    environment = {"PHONEPROV_DATA_DIR": str(folder)}

    async def fill() -> None:
        settings = read_settings(environment)
        container = prepare(settings)
        await create_database(settings)
        async with running(container), container.database().write() as tx:
            for number in (1, 2, 3):
                await tx.phones.add(a_phone(number, phone_ip=f"10.0.0.{number}", model="CP-7945G"))
            foreign = SeenPhone(a_mac(2), FleetState.FOREIGN, AT, AT, True, 0, a_mac(9))
            await tx.fleet.put(foreign, is_change=True)
            await tx.fleet.put(SeenPhone(a_mac(3), FleetState.FINE, AT, AT), is_change=True)

    asyncio.run(fill())
    return environment


def shown(environment: dict[str, str], *arguments: str) -> str:
    done = CliRunner(env=environment).invoke(main, ["fleet", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_fleet_shows_numbers_and_the_phones_in_a_state(tmp_path: Path) -> None:
    environment = office(tmp_path / "data")

    numbers = json.loads(shown(environment, "--json"))
    assert numbers["states"] == {"fine": 1, "foreign": 1, "never_seen": 1}
    assert numbers["models"] == {"7945": 3}
    text = shown(environment)
    assert "3 active phone(s)." in text
    assert "never_seen" in text
    (foreign,) = shown(environment, "--state", "foreign").splitlines()[1:]
    assert f"Another phone answers at 10.0.0.2: {a_mac(9)}." in foreign
    assert "Correct the phone_ip" in foreign
    assert json.loads(shown(environment, "--state", "fine", "--json"))["mac"] == a_mac(3)
    assert shown(environment, "--state", "unregistered") == "No phone is in this state.\n"


def test_watch_runs_until_it_is_stopped(tmp_path: Path) -> None:
    environment = office(tmp_path / "data")
    with Forked(["watch", "--minutes", "1"], env=without_settings(**environment)) as process:
        first = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        errors = process.stderr.read()

        assert first.startswith("phoneprov checks every phone each minute")
        assert (process.wait(30), "Traceback" in errors) == (0, False), errors
