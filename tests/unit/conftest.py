"""An office with accounts, for every test of a use case."""

import pytest

from phoneprov_core.kernel.actor import Actor
from support.office import Office


@pytest.fixture
def office() -> Office:
    """Under the strict rule, so that accounts without level 0 differ."""
    return Office()


@pytest.fixture
async def root(office: Office) -> Actor:
    """The one superadmin."""
    return await office.add_user("root", level=0)


@pytest.fixture
async def ada(office: Office) -> Actor:
    """A user with an assignment that holds no level 0 under the strict rule."""
    return await office.add_user("ada", level=1)


@pytest.fixture
async def bob(office: Office) -> Actor:
    """A user without an assignment."""
    return await office.add_user("bob")
