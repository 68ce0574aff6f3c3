"""Restarts, calls and watches through chan_sccp in a real Asterisk (``make test-chan-sccp``)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from asterisk.exchange import SECONDS, SECRET, USER, Exchange, running
from asterisk.sccp_phone import SccpPhone
from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.lists import ManagerCalls
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.features.transfer.asterisk import Sections
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.devices.commands import RestartType, sccp_restart
from phoneprov_core.switching.devices.names import device_name
from support.phone_records import a_phone
from support.records import an_extension

PHONE = a_phone(1, mac="00:1B:D4:12:34:56", model="CP-7945G", software_type="SCCP")
OTHER = a_phone(2, mac="00:1B:D4:12:34:57", model="CP-7945G", software_type="SCCP")
NUMBER = "1001"
KINDS = {RestartType.RESET: 1, RestartType.RESTART: 2}


def configuration(port: int) -> str:
    """The general section, and what ``phoneprov export extensions --format sccp`` writes."""
    sections = Sections()
    line = sections.line(an_extension(1, extension=NUMBER, type="chan_sccp"))
    devices = sections.device(PHONE, [NUMBER]), sections.device(OTHER, [])
    return (
        f"[general]\nservername = Asterisk\nbindaddr = 127.0.0.1\nport = {port}\n"
        "deny = 0.0.0.0/0.0.0.0\npermit = 127.0.0.1/255.255.255.255\n"
        "disallow = all\nallow = ulaw\ncontext = default\n\n"
        + "".join(section.text for section in (line, *devices))
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def exchange() -> AsyncIterator[Exchange]:
    async with running("", sccp=configuration) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def phone(exchange: Exchange) -> AsyncIterator[SccpPhone]:
    made = SccpPhone(device_name(PHONE.mac), exchange.sccp)
    async with asyncio.timeout(SECONDS):
        await made.register()
    yield made
    await made.leave()


@pytest.fixture
def shared(exchange: Exchange) -> ManagerConnection:
    settings = ManagerSettings(host="127.0.0.1", port=exchange.ami, user=USER, secret=SECRET)
    return ManagerConnection(settings)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("kind", RestartType)
async def test_restart_reaches_the_phone_and_its_return_is_seen(
    phone: SccpPhone, shared: ManagerConnection, kind: RestartType
) -> None:
    # One login for all of this: the account has allowmultiplelogin = no.
    watching = await ManagerEvents(shared).begin(PHONE)

    await Manager(shared).perform(sccp_restart(PHONE.mac, kind))

    async with asyncio.timeout(SECONDS):
        assert await phone.resets.get() == KINDS[kind]
        await phone.leave()
        await phone.register()
    assert "registered again" in await watching.returned(SECONDS)
    await watching.close()


async def test_ringing_phone_is_in_a_call(
    exchange: Exchange, phone: SccpPhone, shared: ManagerConnection
) -> None:
    calls = ManagerCalls(shared, fresh_seconds=0.0)
    assert not await calls.in_call(PHONE)

    await exchange.command(f"channel originate SCCP/{NUMBER} application Wait 60")
    await asyncio.wait_for(phone.rings.wait(), SECONDS)

    assert await calls.in_call(PHONE)
    assert not await calls.in_call(OTHER)
    await exchange.command("channel request hangup all")


async def test_phone_that_never_registered_is_refused(shared: ManagerConnection) -> None:
    with pytest.raises(Refused, match="not registered"):
        await Manager(shared).perform(sccp_restart(OTHER.mac))


async def test_device_that_is_not_in_memory_is_refused(shared: ManagerConnection) -> None:
    with pytest.raises(Refused, match="not registered"):
        await Manager(shared).perform(sccp_restart("00:1B:D4:00:00:01"))
