"""Fixtures of fault tests: a service of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.served import Served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A service with one process and its own database, not yet started."""
    service = Served(tmp_path)
    yield service
    service.kill()
