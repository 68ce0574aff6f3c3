"""Every way to watch phones, as a fixture."""

from collections.abc import AsyncIterator

import pytest

from phoneprov_adapters.phone import watch as web_watch
from support.watching import WAYS, Watched


@pytest.fixture(autouse=True)
def _short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_watch, "FIRST_PAUSE", 0.02)


@pytest.fixture(params=WAYS)
async def way(request: pytest.FixtureRequest) -> AsyncIterator[Watched]:
    async with WAYS[request.param]() as watched:
        yield watched
