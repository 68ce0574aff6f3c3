"""A floor of phones, and a profile."""

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.profiles.model import Profile
from support.floor import create_floor
from support.office import Office
from support.switching import Journal


@pytest.fixture
async def profile(office: Office, root: Actor, ada: Actor) -> Profile:
    """Ada's profile; twelve phones are in the inventory."""
    return await create_floor(office, root, ada, 12)


@pytest.fixture
def journal(office: Office, monkeypatch: pytest.MonkeyPatch) -> Journal:
    return Journal(office, monkeypatch)
