"""The command of the how-to about rehearsals prints the shown output, but for the times."""

import asyncio
import random
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_http.main.cli import main
from support.rehearsed import office_in, real_phones

PAGE = Path(__file__).parents[3] / "docs/how-to/rehearse.md"


def plain(text: str) -> str:
    """Without times and durations."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d{3}Z| UTC)", "TIME", text)
    return re.sub(r"after [0-9]+ s", "after N s", text).strip()


async def monday_morning(folder: Path) -> None:
    """Two phones that work, one that is off since Friday, and one that was never seen."""
    async with office_in(folder) as office:
        await office.furnish(profiles=4)
        *seen, never = real_phones(random.Random(1), 4)
        for number, phone in enumerate((*seen, never), 1):
            phone.mac = f"00:1B:D4:00:00:{number:02X}"
        await office.add(seen)
        await office.run(location="floor 3", profile_uuid=office.profiles[0])
        seen[2].fault = "unreachable"
        await office.look()
        await office.add([never])


def test_rehearse_page_command_prints_the_shown_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(monday_morning(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PHONEPROV_FTP_HOST", "10.0.0.2")
    monkeypatch.setenv("PHONEPROV_PHONE_NETWORKS", "10.0.0.0/8")
    (block,) = re.findall(r"```console\n\$ phoneprov (.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    command, shown = block.split("\n", 1)

    done = CliRunner().invoke(main, shlex.split(command), catch_exceptions=False)
    assert plain(done.stdout) == plain(shown)
    assert done.exit_code == 1

    as_json = CliRunner().invoke(main, [*shlex.split(command), "--json"], catch_exceptions=False)
    assert '"evidence": "last_seen"' in as_json.stdout
