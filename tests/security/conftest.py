"""What tests of more than one promise share."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.sealing import Vault, empty_database


@pytest.fixture(params=["postgres", "sqlite"])
async def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    return Vault(await empty_database(request.param, tmp_path))
