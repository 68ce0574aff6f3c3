"""``phoneprov drill``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contract.cli.test_fleet import office
from phoneprov_adapters.asterisk.drills import ManagerDrills
from phoneprov_core.features.lines.drills import DrillCall
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency
from phoneprov_core.kernel.errors import TimedOut
from phoneprov_http.main.cli import main
from support.records import a_mac
from unit.features.lines.test_drills import Exchange

FOUND = Emergency("+49999")


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Exchange:
    made = Exchange()
    monkeypatch.setattr(ManagerDrills, "calls", lambda _, *of: made.calls(*of))
    made.has = {a_mac(n): [(DrillCall("101", NO_EMERGENCY, NO_EMERGENCY),)] for n in (1, 2, 3)}
    return made


def drill(environment: dict[str, str], *arguments: str) -> Result:
    return CliRunner(env=environment).invoke(main, ["drill", *arguments], catch_exceptions=False)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    ami = {"HOST": "127.0.0.1", "USER": "phoneprov", "SECRET": "x"}
    return office(tmp_path / "data") | {f"PHONEPROV_AMI_{key}": value for key, value in ami.items()}


def test_drill_of_desks_as_recorded_says_so(
    environment: dict[str, str], exchange: Exchange
) -> None:
    exchange.has[a_mac(2)] = [()]
    done = drill(environment)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "3 desk(s): 2 as recorded, 0 not, 1 not registered.\n"


def test_drill_lists_the_desks_that_differ_and_exits_with_1(
    environment: dict[str, str], exchange: Exchange
) -> None:
    exchange.has[a_mac(2)] = [(DrillCall("102", FOUND, FOUND),)]
    exchange.has[a_mac(3)] = [TimedOut("No answer.")]
    done = drill(environment)
    assert done.exit_code == 1
    _, differs, unknown, last = done.stdout.splitlines()
    assert differs.split()[:3] == [a_mac(2), "-", "differs"]
    assert '"+49999", which no location' in differs
    assert unknown.split()[:3] == [a_mac(3), "-", "unknown"]
    assert last == "3 desk(s): 1 as recorded, 2 not, 0 not registered."
    rows = [json.loads(line) for line in drill(environment, "--json").stdout.splitlines()]
    assert [row["result"] for row in rows] == ["agrees", "differs", "unknown"]
    assert (rows[1]["mac"], rows[1]["presented_number"]) == (a_mac(2), "+49999")


def test_drill_that_asks_no_registered_phone_exits_with_1(
    environment: dict[str, str], exchange: Exchange
) -> None:
    exchange.has = {a_mac(number): [()] for number in (1, 2, 3)}
    assert drill(environment).exit_code == 1


def test_drill_of_a_place_without_phones_and_without_an_exchange_is_refused(
    environment: dict[str, str],
) -> None:
    done = drill(environment, "--location", "Nowhere")
    assert (done.exit_code, "No active phone" in done.stderr) == (2, True)
    del environment["PHONEPROV_AMI_HOST"]
    done = drill(environment)
    assert (done.exit_code, "PHONEPROV_AMI_HOST" in done.stderr) == (1, True)
