"""What tests of more than one promise share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.sealing import Vault, empty_database

# A busy machine is slow now and then; that says nothing about the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(params=["postgres", "sqlite"])
async def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    return Vault(await empty_database(request.param, tmp_path))
