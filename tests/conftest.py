"""Whatever is logged while tests run is searched for the secrets that they use; what was
measured is shown at the end."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from phoneprov_http.main.serving.logs import JsonLines
from support.planted import OF_ALL_TESTS, Search
from support.scale import figures


class Overheard(logging.Handler):
    """``told`` are the lines in which there was a secret."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.told: list[str] = []
        self._search = Search(OF_ALL_TESTS)

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if self._search.in_text(line):
            self.told.append(line)


overheard = Overheard()


def pytest_configure() -> None:
    logging.getLogger().addHandler(overheard)


@pytest.fixture(autouse=True)
def no_secret_is_logged() -> Iterator[None]:
    yield
    told, overheard.told = overheard.told, []
    assert told == []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if figures:
        terminalreporter.section("figures")
    for figure in figures:
        terminalreporter.line(figure)
