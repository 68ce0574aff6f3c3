"""Fixtures of several modules."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from security.listening import Listening, listening
from security.wire import Recorder
from support.sealing import Vault, empty_database


@pytest.fixture(params=["postgres", "sqlite"])
async def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    return Vault(await empty_database(request.param, tmp_path))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def server(recorder: Recorder) -> Iterator[Listening]:
    with listening(recorder) as listening_:
        yield listening_
