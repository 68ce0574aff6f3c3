"""Counters of events, shared by the workers of a service."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from prometheus_client import Counter, Histogram

from phoneprov_adapters.runtime.system import log_deployment, log_login_failure
from phoneprov_core.features.serving.model import Fetch
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
