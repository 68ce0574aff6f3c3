"""One application for test after test: to make it takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from litestar.types import ASGIApp

from phoneprov_core.application import UseCases
from phoneprov_http.app import HttpSettings, create_app


class _Behind:
    """The use cases of whichever test is served just now. Each of its attributes stands for the
    one of that name, so that an application can be made before there are any."""

    now: UseCases

    def __getattr__(self, name: str) -> _StandIn:
        return _StandIn(self, name)


class _StandIn:
    def __init__(self, behind: _Behind, name: str) -> None:
        self._behind = behind
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._use_case(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._use_case()(*arguments, **named)

    def _use_case(self) -> Any:
        return getattr(self._behind.now, self._name)


_idle: dict[tuple[object, ...], list[tuple[ASGIApp, _Behind]]] = {}


async def _ready() -> str | None:
    return None


@contextmanager
def shared_app(use_cases: UseCases, settings: HttpSettings) -> Iterator[ASGIApp]:
    """The application over these use cases, for as long as the block; nobody else has it
    meanwhile."""
    idle = _idle.setdefault(
        (settings.largest_body, settings.console, *settings.trusted_proxies), []
    )
    if idle:
        app, behind = idle.pop()
    else:
        behind = _Behind()
        app = create_app(cast(UseCases, behind), settings, ready=_ready)
    behind.now = use_cases
    try:
        yield app
    finally:
        idle.append((app, behind))
