"""A rollout waits for its last phones, or leaves them to the running service."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from support.command_line import Commands
from support.desk import ADA, MAC, phone_beside, populate, settings_for
from support.polling import until


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    populate({"PHONEPROV_DATA_DIR": str(tmp_path / "populated")})
    shutil.copytree(tmp_path / "populated", tmp_path / "data")
    with phone_beside(tmp_path / "phone", away_seconds=5.0) as phone:
        yield settings_for(phone, tmp_path / "data")


def confirmation(environment: dict[str, str]) -> str:
    return str(Commands(environment).json("history", MAC)[0]["confirmation"])


def test_rollout_ends_when_it_is_known_whether_its_phones_are_back(
    environment: dict[str, str],
) -> None:
    done = Commands(environment).run("rollout", "--mac", MAC, "--profile", ADA)

    assert done.exit_code == 0, done.output
    assert confirmation(environment) == "confirmed"


async def test_rollout_that_does_not_wait_leaves_the_phones_to_the_service(
    environment: dict[str, str],
) -> None:
    container = prepare(read_settings(environment))
    async with running(container, batches=True):
        # The batch is worked on by the process of the command.
        command = Commands(environment)
        order = ("rollout", "--mac", MAC, "--profile", ADA, "--no-wait")
        done = await asyncio.to_thread(command.run, *order)
        assert done.exit_code == 0, done.output

        async def is_known() -> bool:
            found = await asyncio.to_thread(confirmation, environment)
            assert found in {"pending", "confirmed"}
            return found == "confirmed"

        await until(is_known, 60)
