"""Setup of all tests.

Log records are searched for the secrets that the tests use. Measured figures are shown at the end.
"""

import gc
import logging
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from phoneprov_http.main.server.logs import JsonLines, LogQueue
from support.planted import OF_ALL_TESTS, Search
from support.scale import LONG, figures

FAULTS = Path(__file__).parent / "faults"

# A shell starts a job in the background with Ctrl-C ignored; some tests send it to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The ordinary run tries the same examples each time, on a machine of any speed. The long run
# tries new ones.
settings.register_profile(
    "phoneprov",
    derandomize=not LONG,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("phoneprov")


class LogSearch(logging.Handler):
    """Keeps the log lines that hold a secret."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.found: list[str] = []
        self._search = Search(OF_ALL_TESTS)

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if self._search.in_text(line):
            self.found.append(line)


log_search = LogSearch()


def pytest_configure() -> None:
    logging.getLogger().addHandler(log_search)
    # Under nohup every process of the tests would ignore SIGHUP, at which services must stop. A
    # signal with a handler has its default action again in a new program, an ignored one has not.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import the tests without garbage collection, and keep what they import out of later ones.

    Collecting takes 4.5 instead of 7.3 s of processor time, in every worker.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the fault tests over the run: they wait while others compute. In one block they
    would be the last tests of a run with several workers."""
    groups: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        groups[FAULTS in item.path.parents].append(item)
    places = {
        item: place / len(group) for group in groups.values() for place, item in enumerate(group)
    }
    items.sort(key=places.__getitem__)


@pytest.fixture(autouse=True)
def no_secret_is_logged() -> Iterator[None]:
    yield
    found, log_search.found = log_search.found, []
    assert found == []


@pytest.fixture(autouse=True)
def logs_end_with_the_test() -> Iterator[None]:
    """Undo ``set_up_logs``, which a service in this process calls: its level would add lines to
    those that later tests compare."""
    yield
    root = logging.getLogger()
    logging.getLogger("phoneprov").setLevel(logging.NOTSET)
    for handler in [handler for handler in root.handlers if isinstance(handler, LogQueue)]:
        root.removeHandler(handler)
        handler.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if figures:
        terminalreporter.section("figures")
    for figure in figures:
        terminalreporter.line(figure)
