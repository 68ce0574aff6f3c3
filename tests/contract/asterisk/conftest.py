"""A stub of the manager interface."""

from collections.abc import AsyncIterator

import pytest

from support.ami_stub import AmiStub


@pytest.fixture
async def stub() -> AsyncIterator[AmiStub]:
    async with AmiStub() as made:
        yield made
