"""Watches whose process ended are resumed by another one."""

import dataclasses

import pytest

from phoneprov_adapters.memory.system import MemoryBackground
from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.model import Confirmation, Deployment
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.system import shown
from support.floor import create_floor
from support.office import Office, Settings
from support.records import a_mac
from support.switching import deployments, switch


@pytest.fixture
def office() -> Office:
    return Office(Settings(with_watch=True))


def killed(office: Office) -> Confirm:
    """End the watches, and begin another process."""
    for task in office.background._tasks:
        task.cancel()
    office.background = MemoryBackground()
    return dataclasses.replace(office.deploy.confirm, background=office.background)


async def one_pending(office: Office) -> Deployment:
    root = await office.add_user("root", level=0)
    profile = await create_floor(office, root, root, 1)
    await switch(office, root, profile, a_mac(1))
    (record,) = await deployments(office)
    assert record.confirmation is Confirmation.PENDING
    return record


async def test_phone_seen_by_the_resumed_watch_is_confirmed(office: Office) -> None:
    await one_pending(office)
    confirm = killed(office)
    office.clock.advance(60)

    await confirm.resume()
    await confirm.resume()
    assert office.watch.watched == [a_mac(1)]
    office.watch.comes_back(a_mac(1))
    await office.background.done()

    (record,) = await deployments(office)
    assert record.confirmation is Confirmation.CONFIRMED
    assert confirm.watched == set()


async def test_phone_missed_by_the_resumed_watch_is_not_known(office: Office) -> None:
    await one_pending(office)
    confirm = killed(office)

    await confirm.resume()
    office.watch.goes_missing(a_mac(1))
    await office.background.done()

    (record,) = await deployments(office)
    assert record.confirmation is Confirmation.NOT_CONFIRMED
    assert str(record.confirmation_message).startswith("It is not known")


async def test_watch_beyond_its_time_or_without_a_way_is_not_resumed(office: Office) -> None:
    await one_pending(office)
    confirm = killed(office)
    office.watch.refuse(Conflict("Not today."))
    await confirm.resume()
    office.clock.advance(131)
    await confirm.resume()

    assert office.watch.watched == []
    record = (await deployments(office))[0].as_of(shown(office.clock()))
    assert (record.confirmation, record.confirmation_message) == (
        Confirmation.NOT_CONFIRMED,
        "The watch was interrupted before the phone was seen again.",
    )
