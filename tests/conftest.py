"""What was measured is shown at the end of a run."""

from __future__ import annotations

import pytest

from support.scale import figures


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if figures:
        terminalreporter.section("figures")
    for figure in figures:
        terminalreporter.line(figure)
