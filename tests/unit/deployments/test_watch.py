"""Which way of watching a phone is used."""

import asyncio

import pytest

from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.composition.factories import connection_of, watch_of
from phoneprov_adapters.composition.reading import read_settings
from phoneprov_adapters.memory.phone import MemoryPhone
from phoneprov_adapters.memory.watch import MemoryWatch
from phoneprov_adapters.testing.phone_records import a_phone
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut

PHONE = a_phone(1)


@pytest.mark.parametrize(
    ("software_type", "way"),
    [("SCCP", "events"), (None, "events"), ("", "events"), ("SIP", "both"), ("sipe", "both")],
)
async def test_watch_kind_is_events_for_sccp_and_both_for_sip(
    software_type: str | None, way: str
) -> None:
    events, web = MemoryWatch(), MemoryWatch()

    watching = await Watch(events, web, seconds=120).begin(PHONE, software_type)

    assert watching is not None
    assert events.watched
    assert bool(web.watched) == (way == "both")
    await watching.close()


@pytest.mark.parametrize("error", [Refused("no"), TimedOut("no"), Conflict("no")])
async def test_watch_that_fails_is_replaced_by_the_next(error: Refused) -> None:
    events, web = MemoryWatch(), MemoryWatch()
    events.refuse(error)

    watching = await Watch(events, web, seconds=120).begin(PHONE, "SCCP")

    assert watching is not None
    assert (events.watched, web.watched) == ([], [PHONE.mac])
    await watching.close()


@pytest.mark.parametrize("first", ["events", "web"])
async def test_first_watch_to_see_a_sip_phone_confirms(first: str) -> None:
    ways = {"events": MemoryWatch(), "web": MemoryWatch()}
    watching = await Watch(ways["events"], ways["web"], seconds=120).begin(PHONE, "SIP")
    assert watching is not None

    waiting = asyncio.create_task(watching.returned(20.0))
    await asyncio.sleep(0)
    ways["web" if first == "events" else "events"].goes_missing(PHONE.mac)
    ways[first].comes_back(PHONE.mac, f"Seen by {first}.")

    assert await waiting == f"Seen by {first}."
    await watching.close()
    assert [way.watched for way in ways.values()] == [[], []]


async def test_sip_phone_seen_by_no_watch_has_both_messages() -> None:
    events, web = MemoryWatch(), MemoryWatch()
    watching = await Watch(events, web, seconds=120).begin(PHONE, "SIP")
    assert watching is not None

    events.goes_missing(PHONE.mac, TimedOut("No event."))
    web.goes_missing(PHONE.mac, Refused("No answer."))

    with pytest.raises(TimedOut) as missed:
        await watching.returned(20.0)
    assert set(missed.value.message.split(". ")) >= {"No event", "No answer."} or (
        missed.value.message == "No answer. No event."
    )
    await watching.close()


async def test_watch_unavailable_or_not_configured_is_none() -> None:
    web = MemoryWatch()
    web.refuse(Refused("no"))

    assert await Watch(None, web, seconds=120).begin(PHONE, "SCCP") is None
    assert await Watch(None, None, seconds=120).begin(PHONE, "SCCP") is None


async def test_watch_of_zero_seconds_is_not_started() -> None:
    web = MemoryWatch()

    assert await Watch(None, web, seconds=0).begin(PHONE, "SCCP") is None
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
