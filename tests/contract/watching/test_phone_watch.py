"""The contract of ``PhoneWatch`` and ``Watching``."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from phoneprov_adapters.asterisk import connection, events
from phoneprov_adapters.phone import watch as web_watch
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.switching.deployments.observation import Watching
from support.ami_stub import AmiStub
from support.phone_simulated import FTP_PASSWORD
from support.phone_stub import PhoneStub, nothing
from support.phone_web import LOOPBACK, SLACK, web
from support.polling import until
from support.watching import OTHER, PHONE, ByEvents, InMemory, OverTheWeb, Watched, at

LONG = 20.0
SHORT = 0.3


@pytest.fixture
async def watching(way: Watched) -> AsyncIterator[Watching]:
    begun = await way.watch.begin(PHONE)
    yield begun
    await begun.close()


async def test_phone_absent_and_present_again_is_confirmed(
    way: Watched, watching: Watching
) -> None:
    waiting = asyncio.create_task(watching.returned(LONG))
    await asyncio.sleep(0)
    await way.leaves()
    assert not waiting.done()
    await way.comes_back()

    message = await asyncio.wait_for(waiting, LONG)

    assert message.endswith(".")
    assert len(message.splitlines()) == 1


async def test_events_before_the_start_are_ignored(way: Watched) -> None:
    await way.leaves()
    await way.comes_back()

    watching = await way.watch.begin(PHONE)

    with pytest.raises(TimedOut):
        await watching.returned(SHORT)
    await watching.close()


async def test_phone_absent_at_the_start_of_a_resumed_watch_is_confirmed(way: Watched) -> None:
    await way.leaves()
    watching = await way.watch.begin(PHONE, is_restarting=True)
    waiting = asyncio.create_task(watching.returned(LONG))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await way.comes_back()

    assert await asyncio.wait_for(waiting, LONG)
    await watching.close()


async def test_phone_that_a_resumed_watch_does_not_see_leave_is_not_confirmed(
    way: Watched,
) -> None:
    watching = await way.watch.begin(PHONE, is_restarting=True)

    with pytest.raises(TimedOut):
        await watching.returned(SHORT)
    await watching.close()


async def test_phone_always_present_is_not_confirmed(way: Watched, watching: Watching) -> None:
    with pytest.raises(TimedOut) as missed:
        await watching.returned(SHORT)

    assert "not" in missed.value.message
    if isinstance(way, OverTheWeb):
        assert missed.value.message.startswith("The phone did not restart: it answered")


async def test_phone_always_absent_is_not_confirmed(way: Watched, watching: Watching) -> None:
    waiting = asyncio.create_task(watching.returned(SHORT))
    await asyncio.sleep(0)
    await way.leaves()

    with pytest.raises(TimedOut) as missed:
        await waiting
    if not isinstance(way, InMemory):
        assert "unregister" in missed.value.message or "answer" in missed.value.message


async def test_other_events_are_in_the_message(way: Watched, watching: Watching) -> None:
    waiting = asyncio.create_task(watching.returned(1.0))
    await asyncio.sleep(0)
    await way.is_lost()

    with pytest.raises((Refused, TimedOut)) as lost:
        await asyncio.wait_for(waiting, LONG)
    if isinstance(way, ByEvents):
        assert lost.value.message.startswith("It is not known")
    if isinstance(way, OverTheWeb):
        assert OTHER.mac in lost.value.message


async def test_return_of_another_phone_is_ignored(way: Watched, watching: Watching) -> None:
    waiting = asyncio.create_task(watching.returned(SHORT))
    await asyncio.sleep(0)
    await way.leaves()
    await way.comes_back(OTHER)

    with pytest.raises(TimedOut):
        await waiting


async def test_phone_is_watched_by_several_callers(way: Watched) -> None:
    watchings = [await way.watch.begin(PHONE) for _ in range(3)]
    first, *others = [asyncio.create_task(one.returned(LONG)) for one in watchings]
    await asyncio.sleep(0)

    first.cancel()
    await watchings[0].close()
    await way.leaves()
    await way.comes_back()

    assert all(await asyncio.wait_for(asyncio.gather(*others), LONG))
    for one in watchings[1:]:
        await one.close()
    assert way.watched() == 0


async def test_watch_closed_without_wait_leaves_no_task(way: Watched) -> None:
    for lose in (False, True):
        watching = await way.watch.begin(PHONE)
        if lose:
            await way.is_lost()
            await asyncio.sleep(0.01)
        await watching.close()

    assert way.watched() == 0


async def test_unwatchable_phone_is_reported_at_once(way: Watched) -> None:
    way.refuses()
    began = time.monotonic()

    with pytest.raises((Refused, TimedOut, Conflict)):
        await way.watch.begin(PHONE)

    assert time.monotonic() - began < 8.0
    assert way.watched() == 0


# The phone's own web server


async def test_phone_without_device_name_is_not_watched() -> None:
    async with PhoneStub() as stub:  # answers, but tells no MAC
        with pytest.raises(Refused, match="MAC"):
            await WebWatch(web(stub), LOOPBACK).begin(PHONE)


async def test_other_phone_at_the_address_is_not_watched() -> None:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, mac=OTHER.mac) as other:
        with pytest.raises(Refused, match=OTHER.mac):
            await OverTheWeb(other).watch.begin(PHONE)


async def test_other_phone_that_took_the_address_ends_the_watch() -> None:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, mac=PHONE.mac) as phone:
        watching = await OverTheWeb(phone).watch.begin(PHONE)
        await OverTheWeb(phone).is_lost()
        with pytest.raises(Refused, match=OTHER.mac):
            await watching.returned(LONG)


async def test_silent_phone_is_not_watched_and_reported_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert web_watch.FIRST_REQUEST_SECONDS < 4.0
    monkeypatch.setattr(web_watch, "FIRST_REQUEST_SECONDS", SHORT)
    async with PhoneStub(nothing) as stub:
        began = time.monotonic()
        with pytest.raises(TimedOut):
            await WebWatch(web(stub), LOOPBACK).begin(PHONE)
        assert time.monotonic() - began < SHORT + SLACK


@pytest.mark.parametrize("address", [None, "10.1.2.3"])
async def test_forbidden_address_is_not_watched(address: str | None) -> None:
    async with PhoneStub() as stub:
        with pytest.raises(Conflict):
            await WebWatch(web(stub), LOOPBACK).begin(at(PHONE, address))
        assert stub.connections == 0


# Asterisk's manager interface


@pytest.fixture
async def asterisk() -> AsyncIterator[ByEvents]:
    async with AmiStub() as stub:
        yield ByEvents(stub)


async def test_registration_without_unregistration_is_not_confirmed(asterisk: ByEvents) -> None:
    watching = await asterisk.watch.begin(PHONE)
    await asterisk.comes_back()

    with pytest.raises(TimedOut, match="did not unregister"):
        await watching.returned(SHORT)
    await watching.close()


async def test_events_between_start_and_wait_are_used(asterisk: ByEvents) -> None:
    watching = await asterisk.watch.begin(PHONE)
    await asterisk.leaves()
    await asterisk.comes_back()
    await asyncio.sleep(0.05)

    assert "registered again" in await watching.returned(SHORT)
    await watching.close()


async def test_account_without_read_rights_is_reported_with_the_needed_rights(
    asterisk: ByEvents,
) -> None:
    watching = await asterisk.watch.begin(PHONE)

    with pytest.raises(TimedOut, match="read = call"):
        await watching.returned(SHORT)
    await watching.close()


async def test_watches_share_one_connection_that_closes_with_the_last(
    asterisk: ByEvents,
) -> None:
    first, second = [await asterisk.watch.begin(phone) for phone in (PHONE, OTHER)]
    assert asterisk.stub.connections == 1
    assert ("Events", "system,call,user") in asterisk.stub.received[0]

    await first.close()
    assert not asterisk.stub.closed.is_set()
    await second.close()
    await asterisk.stub.settled()

    third = await asterisk.watch.begin(PHONE)
    assert asterisk.stub.connections == 2
    await third.close()


async def test_lost_connection_is_replaced(asterisk: ByEvents) -> None:
    watching = await asterisk.watch.begin(PHONE)
    waiting = asyncio.create_task(watching.returned(LONG))
    await asterisk.leaves()
    asterisk.stub.disconnect_all()
    await until(lambda: "Ping" in asterisk.stub.names, LONG)
    await asterisk.comes_back()

    assert await waiting
    await watching.close()
    assert asterisk.watched() == 0


async def test_events_missed_while_the_connection_was_lost_are_not_denied(
    asterisk: ByEvents,
) -> None:
    watching = await asterisk.watch.begin(PHONE)
    asterisk.stub.disconnect_all()

    with pytest.raises(TimedOut, match=r"not known.*lost for a while"):
        await watching.returned(1.0)
    await watching.close()


async def test_asterisk_that_answers_no_ping_is_not_called_a_phone_that_stays_away(
    asterisk: ByEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "ANSWER_SECONDS", SHORT)
    watching = await asterisk.watch.begin(PHONE)
    await asterisk.leaves()
    asterisk.stub.answers["Ping"] = None

    with pytest.raises(TimedOut, match=r"^It is not known.*did not answer in time"):
        await watching.returned(SHORT)
    await watching.close()


async def test_silent_manager_is_not_watched_and_reported_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert connection.LOGIN_SECONDS <= 4.0
    monkeypatch.setattr(connection, "LOGIN_SECONDS", SHORT)
    async with AmiStub() as stub:
        stub.answers["Login"] = None
        began = time.monotonic()
        with pytest.raises(TimedOut):
            await ByEvents(stub).watch.begin(PHONE)
        assert time.monotonic() - began < SHORT + SLACK
