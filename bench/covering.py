"""Which tests execute a line: one run of the tests with coverage, each test a context of its own.

As a plug-in of pytest it names the context of this process; a program that a test starts takes its
context from the variable of pytest.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

CONFIGURATION = """\
[run]
parallel = true
data_file = {folder}/data
include = {project}/src/*
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-measured
"""
TESTS = ("tests/unit", "tests/contract", "tests/security")
RECORDED = "COVERING_TESTS"


class Covering:
    """What one run has recorded in ``folder``."""

    def __init__(self, folder: Path, project: Path) -> None:
        self._project = project
        recorded = json.loads((folder / "tests.json").read_text("utf-8"))
        self.seconds: dict[str, float] = recorded["seconds"]
        self.failed: list[str] = recorded["failed"]
        self._data = coverage.CoverageData(str(folder / "data"))
        self._data.read()
        with sqlite3.connect(folder / "data") as stored:
            contexts = stored.execute(
                "SELECT context, count(*) FROM line_bits JOIN context"
                " ON context.id = context_id GROUP BY context"
            )
            self._breadth: dict[str, int] = {}
            for context, files in contexts:
                test = _test_of(context)
                self._breadth[test] = max(files, self._breadth.get(test, 0))

    def tests_of(self, path: str, lines: range) -> tuple[list[str], list[str]]:
        """The tests that execute one of the lines, else those of the file: the near ones, which
        have the name of the module, and the others. Tests with PostgreSQL come last; then unit
        tests first, and the tests of the fewest files."""
        by_line = self._data.contexts_by_lineno(str(self._project / path))
        of_lines = {_test_of(one) for line in lines for one in by_line.get(line, ())}
        of_file = {_test_of(one) for ones in by_line.values() for one in ones}
        name = Path(path).stem.rstrip("s")
        near = {test for test in of_file if name in test.partition("::")[0]}
        # A line that runs at the import has the test that imported it first, or none.
        found = of_lines if len(of_lines & self.seconds.keys()) > 1 else of_file
        near &= found

        def order(test: str) -> tuple[bool, bool, int, float]:
            is_unit = test.startswith("tests/unit/")
            return needs_postgres(test), not is_unit, self._breadth.get(test, 0), self.seconds[test]

        usable = self.seconds.keys() - set(self.failed)
        return sorted(near & usable, key=order), sorted((found - near) & usable, key=order)


def needs_postgres(test: str) -> bool:
    """Whether a test starts a PostgreSQL server, which takes seconds."""
    return "postgres" in test or "pgbouncer" in test


def _test_of(context: str) -> str:
    return context.rpartition(" (")[0] if context.endswith(")") else context


def record(project: Path, folder: Path, workers: int) -> None:
    """Run the tests of the project, and record what each executes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    rc = folder / "rc"
    rc.write_text(CONFIGURATION.format(folder=folder, project=project), "utf-8")
    paths = [str(project / "src"), str(Path(__file__).resolve().parents[1])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "COVERAGE_PROCESS_START": str(rc),
        RECORDED: str(folder / "tests.json"),
    }
    began = time.monotonic()
    options = ["-q", "-p", "bench.covering", "-p", "no:cacheprovider", "--assert=plain"]
    options += ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else ["-p", "no:xdist"]
    pytest_run = [sys.executable, "-m", "pytest", *options, *TESTS]
    subprocess.run(pytest_run, cwd=project, env=environment, stdin=subprocess.DEVNULL, check=False)
    print(f"The tests ran in {time.monotonic() - began:.0f} s.", flush=True)
    combine = [sys.executable, "-m", "coverage", "combine", "--quiet", "--rcfile", str(rc)]
    subprocess.run([*combine, str(folder)], cwd=project, check=True)


seconds: dict[str, float] = {}
failed: set[str] = set()


def pytest_runtest_logstart(nodeid: str) -> None:
    """Begin the context of a test."""
    if measuring := coverage.Coverage.current():
        measuring.switch_context(nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add the duration of a phase of a test."""
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    if report.failed:
        failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[Any]:
    """Write what was recorded; a worker writes its coverage only."""
    yield
    if (measuring := coverage.Coverage.current()) is not None:
        measuring.stop()
        measuring.save()
    if not hasattr(session.config, "workerinput"):
        found = {"seconds": seconds, "failed": sorted(failed)}
        Path(os.environ[RECORDED]).write_text(json.dumps(found), "utf-8")
