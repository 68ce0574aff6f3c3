"""A desk for switches."""

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.profiles.model import Profile
from support.office import Office
from support.switching import Journal, a_desk


@pytest.fixture
async def profile(office: Office, root: Actor, ada: Actor) -> Profile:
    """Ada's profile, with a phone in the inventory."""
    return await a_desk(office, root, ada)


@pytest.fixture
def journal(office: Office, monkeypatch: pytest.MonkeyPatch) -> Journal:
    return Journal(office, monkeypatch)
