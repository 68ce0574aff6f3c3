"""The commands of pages."""

from collections.abc import Iterator

import pytest

from support.forked_commands import forked_commands


@pytest.fixture(scope="session")
def commands() -> Iterator[str]:
    """The folder of the command ``phoneprov``."""
    with forked_commands() as folder:
        yield folder
