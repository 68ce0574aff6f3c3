"""Which way of watching a phone is used."""

import pytest

from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.composition.adapters import connection_of, watch_of
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.memory.devices import MemoryPhone, MemoryWatch
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.switching.deployments.confirm import Watch
from support.phone_records import a_phone

PHONE = a_phone(1)


@pytest.mark.parametrize("software_type", ["SCCP", None, "", "SIP", "sipe"])
async def test_phone_is_watched_by_events_alone_where_they_work(software_type: str | None) -> None:
    events, web = MemoryWatch(), MemoryWatch()

    watching = await Watch(events, web, seconds=120).begin(PHONE, software_type)

    assert (events.watched, web.watched) == ([PHONE.mac], [])
    await watching.close()


@pytest.mark.parametrize("error", [Refused("no"), TimedOut("no"), Conflict("no")])
async def test_watch_that_fails_is_replaced_by_the_next(error: Refused) -> None:
    events, web = MemoryWatch(), MemoryWatch()
    events.refuse(error)

    watching = await Watch(events, web, seconds=120).begin(PHONE, "SCCP")

    assert (events.watched, web.watched) == ([], [PHONE.mac])
    await watching.close()


async def test_sip_phone_that_the_exchange_does_not_show_is_not_watched_over_the_web() -> None:
    """An answer of its web server is no registration."""
    events, web = MemoryWatch(), MemoryWatch()
    events.refuse(Refused("Asterisk does not show it."))

    with pytest.raises(Refused, match="does not show it"):
        await Watch(events, web, seconds=120).begin(PHONE, "SIP")

    assert web.watched == []


async def test_sip_phone_without_an_exchange_is_watched_over_the_web() -> None:
    web = MemoryWatch()

    watching = await Watch(None, web, seconds=120).begin(PHONE, "SIP")

    assert web.watched == [PHONE.mac]
    await watching.close()


async def test_watch_unavailable_or_not_configured_says_why() -> None:
    events, web = MemoryWatch(), MemoryWatch()
    events.refuse(Refused("No login."))
    web.refuse(Refused("No answer."))

    with pytest.raises(Refused, match=r"No login\. No answer\."):
        await Watch(events, web, seconds=120).begin(PHONE, "SCCP")
    with pytest.raises(Refused, match="No way"):
        await Watch(None, None, seconds=120).begin(PHONE, "SCCP")


async def test_watch_of_zero_seconds_is_not_started() -> None:
    web = MemoryWatch()

    with pytest.raises(Conflict, match="PHONEPROV_CONFIRM_TIMEOUT is 0"):
        await Watch(None, web, seconds=0).begin(PHONE, "SCCP")

    assert web.watched == []


@pytest.mark.parametrize(
    ("settings", "by_events"),
    [
        ({}, False),
        ({"PHONEPROV_AMI_HOST": "pbx"}, True),
        ({"PHONEPROV_AMI_HOST": "pbx", "PHONEPROV_RESTART": "ami"}, True),
        ({"PHONEPROV_AMI_HOST": "pbx", "PHONEPROV_RESTART": "http"}, False),
    ],
)
def test_event_watch_is_used_with_asterisk_restarts(
    settings: dict[str, str], by_events: bool
) -> None:
    read = read_settings({**settings, "PHONEPROV_CONFIRM_TIMEOUT": "7"})
    watch = watch_of(read, MemoryPhone(), connection_of(read))

    assert isinstance(watch.events, ManagerEvents) == by_events
    assert watch.seconds == 7
