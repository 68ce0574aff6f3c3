"""A desk for switches."""

import pytest

from support.switching import Desk


@pytest.fixture
async def desk() -> Desk:
    return await Desk.of()
