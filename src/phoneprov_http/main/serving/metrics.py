"""Metrics of a process that serves: the listener, and the application around the real one."""

import os
import socket
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import Settings
from phoneprov_http.main.serving.metrics_endpoint import Metrics
from phoneprov_http.main.serving.sockets import bound


def with_metrics(app: Any, container: Container, *, apart_only: bool = False) -> Any:
    """The application with ``/metrics``, as the settings say; itself where metrics are off.
    ``apart_only`` leaves out the token: metrics are on their own listener alone."""
    settings = container.settings()
    token = None if apart_only else settings.metrics_token
    if token is None and settings.metrics_port is None:
        return app
    # Slow to load, and of use only here.
    from phoneprov_adapters.metrics.counters import count_request  # noqa: PLC0415
    from phoneprov_adapters.metrics.exposition import Exposition  # noqa: PLC0415

    return Metrics(
        app,
        Exposition(container.database()),
        None if apart_only else count_request,
        token=token,
        port=settings.metrics_port,
    )


def metrics_listeners(settings: Settings) -> list[socket.socket]:
    """The socket for metrics alone, none if it is not set. Raises ``Refused``."""
    port = settings.metrics_port
    return [] if port is None else [bound(settings.metrics_host, port)]


def counts_of(workers: int, settings: Settings) -> AbstractContextManager[None]:
    """Within it, several workers that start count together."""
    if not settings.has_metrics or (workers == 1 and "PROMETHEUS_MULTIPROC_DIR" not in os.environ):
        return nullcontext()
    from phoneprov_adapters.metrics.shared import shared_counts  # noqa: PLC0415

    return shared_counts()
