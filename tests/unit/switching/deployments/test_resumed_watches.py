"""Watches whose process ended are resumed by another one."""

import dataclasses

import msgspec
import pytest

from phoneprov_adapters.memory.system import MemoryBackground
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.model import Confirmation
from support.office import Settings
from support.switching import MAC, Desk


@pytest.fixture
async def desk() -> Desk:
    """A switch is not confirmed yet."""
    desk = await Desk.of(Settings(with_watch=True))
    await desk.switched()
    assert (await desk.last()).confirmation is Confirmation.PENDING
    return desk


@pytest.fixture
def confirm(desk: Desk) -> Confirm:
    """The watches of another process, after the end of the first one."""
    for task in desk.background._tasks:
        task.cancel()
    desk.background = MemoryBackground()
    return dataclasses.replace(desk.deploy.confirm, background=desk.background)


async def test_phone_seen_by_the_resumed_watch_is_confirmed(desk: Desk, confirm: Confirm) -> None:
    desk.clock.advance(60)

    await confirm.resume()
    await confirm.resume()
    assert desk.watch.watched == [MAC]
    desk.watch.comes_back(MAC)
    await desk.background.done()

    assert (await desk.last()).confirmation is Confirmation.CONFIRMED
    assert confirm.watched == set()


async def test_phone_missed_by_the_resumed_watch_is_not_known(desk: Desk, confirm: Confirm) -> None:
    await confirm.resume()
    desk.watch.goes_missing(MAC)
    await desk.background.done()

    record = await desk.last()
    assert record.confirmation is Confirmation.NOT_CONFIRMED
    assert str(record.confirmation_message).startswith("It is not known")


async def test_watch_beyond_its_time_or_without_a_way_is_not_resumed(
    desk: Desk, confirm: Confirm
) -> None:
    desk.watch.refuse(Conflict("Not today."))
    await confirm.resume()
    desk.clock.advance(131)
    await confirm.resume()

    assert desk.watch.watched == []
    record = (await desk.last()).as_of(timestamp(desk.clock()))
    assert (record.confirmation, record.confirmation_message) == (
        Confirmation.NOT_CONFIRMED,
        "The watch was interrupted before the phone was seen again.",
    )


async def test_phone_missed_by_the_resumed_watch_keeps_what_the_first_one_saw(
    desk: Desk, confirm: Confirm
) -> None:
    await confirm.resume()
    seen = {"confirmation": Confirmation.NOT_CONFIRMED, "confirmation_message": "It is away."}
    async with desk.database.write() as tx:
        await tx.deployments.put(msgspec.structs.replace(await desk.last(), **seen))
    desk.watch.goes_missing(MAC)
    await desk.background.done()

    assert (await desk.last()).confirmation_message == "It is away."
