"""Rows of requests for files: a flood adds few, and a phone's own fetches have one each."""

from collections import Counter

import pytest

from phoneprov_core.features.serving import model as repeats
from phoneprov_core.features.serving.model import (
    MOST_OF_ADDRESS,
    NEW_PHONES,
    SERVED,
    UNSERVED,
    WINDOW_MS,
    FetchResult,
    Transport,
)
from phoneprov_core.features.serving.use_cases import FileRequest
from unit.features.serving.conftest import MAC, NAME, OTHER_IP, PHONE_IP, Office


async def flood(office: Office, *requests: tuple[str, str]) -> list[str]:
    """Request files by name from an address; the addresses in the rows of the phone."""
    provide = office.provide()
    group = []
    for name, ip in requests:
        provided = await provide.open(FileRequest(Transport.TFTP, name, ip))
        size = len(provided.content or b"")
        group.append(provide.ended(provided, is_complete=True, size=size, duration_ms=1))
    await provide.record(group)
    async with office.database.read() as tx:
        return [fetch.client_ip for fetch in await tx.fetches.newest(MAC, 1000)]


@pytest.fixture
async def still(office: Office, monkeypatch: pytest.MonkeyPatch) -> Office:
    """An office whose clock stands still."""
    monkeypatch.setattr(office, "_clock", lambda: office.now)
    return office


def different(count: int) -> list[tuple[str, str]]:
    return [(f"SEP001BD4123456.{number}", OTHER_IP) for number in range(count)]


OWN = (NAME, PHONE_IP)
OTHER = (NAME, "10.0.0.9")
FORGED = [(NAME, f"192.0.2.{number}") for number in range(200)]


@pytest.mark.parametrize(
    ("requests", "most", "rows"),
    [
        ([(NAME, OTHER_IP)] * 500, None, {OTHER_IP: 1}),
        ([(NAME, f"2001:db8::{number:x}") for number in range(50)], None, {"2001:db8::/64": 1}),
        ([*different(UNSERVED * 2), OTHER], None, {OTHER_IP: UNSERVED, "10.0.0.9": 1}),
        # A flood of one address takes no row of another.
        ([*different(UNSERVED * 3), OTHER], UNSERVED * 2, {"10.0.0.9": 1}),
        (FORGED, 50, {"all": 50}),
        ([*FORGED, *[OWN] * 5], 50, {PHONE_IP: 5}),
        ([*[(NAME, OTHER_IP)] * 500, *[OWN] * 5], None, {PHONE_IP: 5}),
        # The fetch that confirms a deployment has a row of its own.
        ([OWN] * 500, None, {PHONE_IP: 1 + SERVED}),
        # The address of an IPv4 client of a socket for both.
        ([(NAME, f"::ffff:{PHONE_IP}")], None, {PHONE_IP: 1}),
    ],
)
async def test_flood_of_requests_has_a_limited_number_of_rows(
    still: Office,
    monkeypatch: pytest.MonkeyPatch,
    requests: list[tuple[str, str]],
    most: int | None,
    rows: dict[str, int],
) -> None:
    monkeypatch.setattr(repeats, "MOST", most or repeats.MOST)
    found = await flood(still, *requests)
    counted = Counter({"all": len(found), "2001:db8::/64": len(found)}) + Counter(found)
    assert {address: counted[address] for address in rows} == rows


async def test_refusal_has_a_row_in_the_next_window(still: Office) -> None:
    counted = repeats.Repeats()
    provide = still.provide()
    provided = await provide.open(FileRequest(Transport.HTTP, NAME, OTHER_IP))
    fetch = provide.ended(provided, is_complete=True, size=0, duration_ms=1).fetch
    assert fetch.result is FetchResult.REFUSED
    moments = (1, 2, WINDOW_MS, WINDOW_MS + 1, WINDOW_MS + 2, 1)
    # A clock that was set back begins a window too.
    expected = [True, False, False, True, False, True]
    assert [counted.has_row(fetch, moment) for moment in moments] == expected


async def test_phone_outside_the_inventory_is_listed_without_a_row(still: Office) -> None:
    names = [(f"SEP00000000{number:04X}.cnf.xml", OTHER_IP) for number in range(1, UNSERVED + 6)]
    await flood(still, *names)
    async with still.database.read() as tx:
        assert await tx.discovered_phones.count() == MOST_OF_ADDRESS


async def test_address_is_a_limited_number_of_new_phones(still: Office) -> None:
    names = [f"SEP00000000{number:04X}.cnf.xml" for number in range(1, 2 * NEW_PHONES)]
    await flood(still, *[(name, OTHER_IP) for name in names], (names[-1], PHONE_IP))
    async with still.database.read() as tx:
        assert await tx.discovered_phones.count() == MOST_OF_ADDRESS + 1


async def test_fetch_that_confirms_a_deployment_has_its_row(
    still: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "SERVED", 0)
    assert await flood(still, *[(NAME, PHONE_IP)] * 9) == [PHONE_IP]
    (confirmed,) = still.journal
    async with still.database.read() as tx:
        (fetch,) = await tx.fetches.newest(MAC, 9)
    assert fetch.uuid in (confirmed.confirmation_message or "")
