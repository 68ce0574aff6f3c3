"""Phones, and a server that must not be called."""

from collections.abc import AsyncIterator

import pytest

from phoneprov_adapters.simulator.phone import SimulatedPhone
from support.phone_simulated import FTP_PASSWORD
from support.phone_stub import PhoneStub


@pytest.fixture
async def stub() -> AsyncIterator[PhoneStub]:
    async with PhoneStub() as made:
        yield made


@pytest.fixture
async def canary() -> AsyncIterator[PhoneStub]:
    """A server that must not be called."""
    async with PhoneStub() as made:
        yield made
        assert made.connections == 0


@pytest.fixture
async def phone() -> AsyncIterator[SimulatedPhone]:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD) as made:
        yield made
