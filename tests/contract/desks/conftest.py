"""An office with one phone to log in at."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.hotdesk import Hotdesk, hotdesk


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Hotdesk]:
    async with hotdesk(tmp_path) as opened:
        yield opened
