"""A floor of phones, and a profile."""

import pytest

from support.floor import Floor


@pytest.fixture
async def floor() -> Floor:
    """Twelve phones are in the inventory."""
    return await Floor.of()
