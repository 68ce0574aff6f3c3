"""Fixtures of import and export."""

from collections.abc import AsyncIterator

import pytest

from phoneprov_adapters.api import InMemory, open_in_memory


@pytest.fixture
async def phoneprov() -> AsyncIterator[InMemory]:
    async with open_in_memory() as opened:
        yield opened
