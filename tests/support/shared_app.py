"""One application for many tests: creating it takes longer than most tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from litestar.types import ASGIApp
from msgspec.structs import replace

from phoneprov_adapters.composition.settings import Settings
from phoneprov_core.application import UseCases
from phoneprov_core.kernel.actor import SharedWrite
from phoneprov_http.app import HttpSettings, create_app
from phoneprov_http.main.server.asgi import http_settings
from phoneprov_http.phone.language import Languages


class _Current:
    """The use cases of the running test.

    Each attribute forwards to theirs, so that an application can be created before them. The rule
    of shared writing is a value: applications of both exist.
    """

    now: UseCases

    def __init__(self, shared_write: SharedWrite) -> None:
        self.shared_write = shared_write

    def __getattr__(self, name: str) -> "_StandIn":
        return _StandIn(self, name)


class _StandIn:
    def __init__(self, current: _Current, name: str) -> None:
        self._current = current
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._use_case(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._use_case()(*arguments, **named)

    def _use_case(self) -> Any:
        return getattr(self._current.now, self._name)


_idle: dict[tuple[HttpSettings, SharedWrite], list[tuple[ASGIApp, _Current]]] = {}


async def _ready() -> str | None:
    return None


_shipped = cache(Languages)


@contextmanager
def shared_app(use_cases: UseCases, settings: Settings) -> Iterator[ASGIApp]:
    """The application over these use cases. One block at a time uses it."""
    rule, served = use_cases.shared_write, http_settings(settings)
    if settings.locale_dir is None:  # settings of two tests are equal only with the same catalogs
        served = replace(served, languages=_shipped(None, settings.language))
    idle = _idle.setdefault((served, rule), [])
    if idle:
        app, current = idle.pop()
    else:
        current = _Current(rule)
        app = create_app(cast(UseCases, current), served, ready=_ready)
    current.now = use_cases
    try:
        yield app
    finally:
        idle.append((app, current))
