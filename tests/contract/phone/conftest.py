"""A phone to call, and a server that nobody may call."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from support.phone_stub import PhoneStub


@pytest.fixture
async def stub() -> AsyncIterator[PhoneStub]:
    async with PhoneStub() as made:
        yield made


@pytest.fixture
async def canary() -> AsyncIterator[PhoneStub]:
    """A server that nobody may call."""
    async with PhoneStub() as made:
        yield made
        assert made.connections == 0
