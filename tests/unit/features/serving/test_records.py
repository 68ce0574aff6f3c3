"""The queue of records: groups, a full queue, a database that is away, the stop."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from phoneprov_adapters.serving import contents
from phoneprov_adapters.serving.contents import FetchRecords
from phoneprov_core.features.serving.model import Fetch, FetchResult, Transport
from phoneprov_core.features.serving.use_cases import Ended
from phoneprov_core.kernel.errors import Unavailable
from support.polling import until


class Recording:
    """Keeps what is recorded; fails the planned number of times."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.failures: list[Exception] = []
        self.bad: set[str] = set()
        self.may_write = asyncio.Event()
        self.may_write.set()

    async def record(self, group: Sequence[Ended]) -> None:
        await self.may_write.wait()
        if self.failures:
            raise self.failures.pop()
        names = [one.fetch.name for one in group]
        if self.bad & set(names):
            raise ValueError("a bad record")
        self.groups.append(names)

    @property
    def names(self) -> list[str]:
        return [name for group in self.groups for name in group]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(contents, "STOP_SECONDS", 0.5)


def queue(recording: Recording, lost: list[int], most: int = 100) -> FetchRecords:
    return FetchRecords(cast(Any, recording), lost.append, most=most)


def ended(name: str, attempt: str | None = None) -> Ended:
    fetch = Fetch("u", None, name, Transport.TFTP, "10.0.0.1", FetchResult.SERVED, 1, 1, "now")
    return Ended(fetch, "now", None, attempt, is_new=False)


async def test_records_of_one_moment_are_one_group() -> None:
    recording, lost = Recording(), list[int]()
    async with queue(recording, lost) as fetches:
        for number in range(50):
            fetches.add(ended(str(number)))
        await until(lambda: recording.names)
        assert len(recording.groups[0]) == 50
        fetches.add(ended("later"))

    assert recording.names == [*map(str, range(50)), "later"]
    assert not lost


async def test_confirming_records_are_written_first() -> None:
    recording, lost = Recording(), list[int]()
    async with queue(recording, lost) as fetches:
        fetches.add(ended("a"))
        fetches.add(ended("b", "attempt"))

    assert recording.names == ["b", "a"]


async def test_full_queue_loses_records_without_a_confirmation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recording, lost = Recording(), list[int]()
    recording.may_write.clear()
    async with queue(recording, lost, most=10) as fetches:
        fetches.add(ended("first"))
        await until(lambda: not len(fetches))
        for number in range(30):
            fetches.add(ended(str(number)))
        fetches.add(ended("confirming", "attempt"))
        recording.may_write.set()

    assert recording.names == ["first", "confirming", *map(str, range(1, 10))]
    assert sum(lost) == 21
    assert "were not recorded" in caplog.text


async def test_records_wait_for_a_database_that_is_away() -> None:
    recording, lost = Recording(), list[int]()
    recording.failures = [Unavailable("away"), Unavailable("away")]
    async with queue(recording, lost) as fetches:
        fetches.add(ended("a"))
        await until(lambda: recording.names)

    assert recording.names == ["a"]
    assert not lost


async def test_bad_record_loses_no_other() -> None:
    recording, lost = Recording(), list[int]()
    recording.bad = {"b"}
    async with queue(recording, lost) as fetches:
        for name in "abc":
            fetches.add(ended(name))

    assert recording.names == ["a", "c"]
    assert sum(lost) == 1


async def test_stop_writes_what_waits_and_counts_what_it_cannot(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recording, lost = Recording(), list[int]()
    recording.may_write.clear()
    async with queue(recording, lost) as fetches:
        for name in "abc":
            fetches.add(ended(name))
        await asyncio.sleep(0.05)
        fetches.add(ended("d"))

    assert sum(lost) == 4
    assert "4 requests of phones were not recorded" in caplog.text
