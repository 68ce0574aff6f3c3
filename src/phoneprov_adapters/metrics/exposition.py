"""The text that Prometheus reads: the counts of all processes, and numbers from the database."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from phoneprov_adapters.metrics.counters import FOLDER
from phoneprov_core.features.fleet.model import Statistics, StatisticsTransaction
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite

_FRESH_SECONDS = 10.0
"""To count a million phones takes a database about 0.1 s."""
_DATABASE_SECONDS = 5.0


class Exposition:
    """The metrics of all processes on this host that count into one folder, or of this one."""

    def __init__(self, database: ReadAndWrite[StatisticsTransaction]) -> None:
        self._database = database
        self._statistics: Statistics | None = None
        self._read_at = -_FRESH_SECONDS
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self) -> bytes:
        """All metrics as text. Without a database its numbers are left out, and
        ``phoneprov_database_up`` is 0."""
        statistics = await self._fresh_statistics()
        return await asyncio.to_thread(_text, statistics)

    async def _fresh_statistics(self) -> Statistics | None:
        async with self._one_at_a_time:
            if time.monotonic() - self._read_at >= _FRESH_SECONDS:
                self._statistics = None
                with suppress(Unavailable, TimeoutError):
                    async with asyncio.timeout(_DATABASE_SECONDS), self._database.read() as tx:
                        self._statistics = await tx.statistics.read()
                self._read_at = time.monotonic()
            return self._statistics


def _text(statistics: Statistics | None) -> bytes:
    counts = REGISTRY
    if os.environ.get(FOLDER):
        counts = CollectorRegistry()
        MultiProcessCollector(counts)  # type: ignore[no-untyped-call]
    numbers = CollectorRegistry()
    numbers.register(_Numbers(statistics))
    return generate_latest(counts) + generate_latest(numbers)


class _Numbers(Collector):
    """Gauges without a value of their own: in multiprocess mode each would be a file."""

    def __init__(self, statistics: Statistics | None) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[GaugeMetricFamily]:
        build = GaugeMetricFamily("phoneprov_build_info", "Always 1", labels=["version"])
        build.add_metric([version("phoneprov")], 1)
        yield build
        up = self._statistics is not None
        yield GaugeMetricFamily("phoneprov_database_up", "1 if the database answers", value=up)
        if self._statistics is None:
            return
        yield _by_state("phoneprov_phones", "Phones of the inventory", self._statistics.phones)
        yield _by_state("phoneprov_fleet", "Active phones", self._statistics.fleet)
        yield _by_state(
            "phoneprov_drills", "Active phones by their last drill", self._statistics.drills
        )
        yield _by_state(
            "phoneprov_batches", "Batches that have not ended", self._statistics.batches
        )
        yield GaugeMetricFamily(
            "phoneprov_hotdesk_sessions",
            "Phones with a user who is logged in",
            value=self._statistics.hotdesk_sessions,
        )
        synced = GaugeMetricFamily(
            "phoneprov_sync_last_success_timestamp_seconds",
            "Time of the last sync of people that was written",
            labels=["source"],
        )
        for source, at in sorted(self._statistics.syncs.items()):
            synced.add_metric([source], at / 1000)
        yield synced


def _by_state(name: str, words: str, numbers: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=["state"])
    for state, number in sorted(numbers.items()):
        family.add_metric([state], number)
    return family
