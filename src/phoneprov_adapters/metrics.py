"""Counters of events, shared by the workers of a service, and the page that shows them."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from phoneprov_adapters.runtime.tasks import log_deployment, log_login_failure
from phoneprov_core.features.fleet.model import Statistics, StatisticsTransaction
from phoneprov_core.features.serving.model import Fetch
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.people.auth.model import LoginFailure
from phoneprov_core.switching.deployments.model import Confirmation, Deployment

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_counts() -> Iterator[None]:
    """Make the folder, empty, and name it in the environment of workers that start from now on.
    A folder that the environment names already is made or emptied, and stays."""
    if named := os.environ.get(FOLDER):
        folder = Path(named)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in folder.glob("*.db"):
            file.unlink(missing_ok=True)
        yield
        return
    with tempfile.TemporaryDirectory(prefix="phoneprov-metrics-", ignore_cleanup_errors=True) as at:
        os.environ[FOLDER] = at
        try:
            yield
        finally:
            os.environ.pop(FOLDER, None)


_DEPLOYMENTS = Counter("phoneprov_deployments", "Deployments that ended", ["outcome", "step"])
_RESTARTS = Counter("phoneprov_restarts", "Commands to restart of deployments", ["result"])
_CONFIRMATIONS = Counter(
    "phoneprov_deployment_confirmations", "Deployments with a watch", ["confirmation"]
)
_DURATION = Histogram(
    "phoneprov_deployment_duration_seconds",
    "From the start of a deployment to its end",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30),
)
_PIN_FAILURES = Counter("phoneprov_pin_failures", "Refused logins at phones")
_FETCHES = Counter(
    "phoneprov_config_fetches", "Requests of phones for files", ["transport", "result"]
)
_UNRECORDED = Counter(
    "phoneprov_unrecorded_fetches", "Requests of phones for files that could not be recorded"
)
_REQUESTS = Counter("phoneprov_http_requests", "HTTP requests", ["method", "route", "status"])
_REQUEST_DURATION = Histogram(
    "phoneprov_http_request_duration_seconds",
    "Duration of HTTP requests",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def journal_deployment(deployment: Deployment) -> None:
    """Log a deployment, and count its end or its confirmation."""
    log_deployment(deployment)
    if deployment.confirmation in {Confirmation.CONFIRMED, Confirmation.NOT_CONFIRMED}:
        _CONFIRMATIONS.labels(deployment.confirmation.value).inc()
        return
    step = deployment.failed_step
    _DEPLOYMENTS.labels(deployment.outcome.value, "" if step is None else step.value).inc()
    if deployment.restart is not None:
        result = {True: "ok", False: "failed", None: "unknown"}[deployment.restarted]
        _RESTARTS.labels(result).inc()
    if deployment.ended_at is not None:
        began, ended = map(datetime.fromisoformat, (deployment.created_at, deployment.ended_at))
        _DURATION.observe(max(0.0, (ended - began).total_seconds()))


def journal_pin_failure(failure: LoginFailure) -> None:
    """Log a refused login at a phone, and count it."""
    log_login_failure(failure)
    _PIN_FAILURES.inc()


def count_fetch(fetch: Fetch) -> None:
    """Count a request of a phone for a file."""
    _FETCHES.labels(fetch.transport.value, fetch.result.value).inc()


def count_unrecorded(number: int) -> None:
    """Count requests for files whose record was lost."""
    _UNRECORDED.inc(number)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count an HTTP request. ``route`` is the template of its path."""
    method = method if method in _METHODS else "other"
    _REQUESTS.labels(method, route, str(status)).inc()
    _REQUEST_DURATION.labels(method, route).observe(seconds)


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
