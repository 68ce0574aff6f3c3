"""The commands of the how-to about earlier moments print the shown output."""

import asyncio
import re
import shlex
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from contract.docs import test_put_back
from contract.docs.test_put_back import commands, pattern
from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.inventory.phones.model import CreatePhone, PhonePatch
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

PAGE = Path(__file__).parents[3] / "docs/how-to/bring-a-floor-back.md"
FRIDAY = "2026-01-23T18:00:00+01:00"


def furnish(environment: dict[str, str]) -> None:
    """Two phones on floor 3."""

    async def put() -> None:
        async with open_phoneprov(read_settings(environment)) as phoneprov:
            actor = phoneprov.system_actor()
            await phoneprov.phones.update(actor, MAC, PhonePatch(location="Floor 3"))
            spare = CreatePhone(mac=f"{MAC[:-1]}7", location="floor 3")
            await phoneprov.phones.create(actor, spare)

    asyncio.run(put())


def test_page_commands_restore_the_floor_and_print_the_shown_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(test_put_back, "PAGE", PAGE)
    press_without_pauses(monkeypatch)
    with phone_beside(tmp_path / "phone") as phone:
        environment = {**settings_for(phone, tmp_path / "data"), "COLUMNS": "120"}
        populate(environment)
        furnish(environment)
        runner = CliRunner(env=environment)
        assert runner.invoke(main, ["switch", ADA, MAC]).exit_code == 0
        on_friday = (tmp_path / "phone" / f"SEP{MAC.replace(':', '')}.cnf.xml").read_bytes()
        friday = datetime.now(UTC).isoformat(timespec="milliseconds")
        time.sleep(0.01)
        change(environment, ADA, configuration(ADA).replace("<webAccess>0<", "<webAccess>1<"))
        assert runner.invoke(main, ["switch", ADA, MAC]).exit_code == 0
        assert (tmp_path / "phone" / f"SEP{MAC.replace(':', '')}.cnf.xml").read_bytes() != on_friday
        for command, shown in commands():
            assert FRIDAY in command
            given = shlex.split(command.replace(FRIDAY, friday))
            done = runner.invoke(main, given, catch_exceptions=False)
            assert re.fullmatch(pattern(shown), done.stdout), f"{command}\n{done.output}"
            assert done.exit_code == 0
        restored = (tmp_path / "phone" / f"SEP{MAC.replace(':', '')}.cnf.xml").read_bytes()

    assert restored == on_friday
    assert len(commands()) == 3
