"""Changes places of the source one after the other, and reports the changes that no test notices.

The places are drawn with a seed: rules, security and adapters more often than the rest. A first run
with coverage records which tests execute which line. Each change runs the tests of its lines until
one fails, in a fork of this process, which has the libraries loaded. A test that fails without the
change, too, says nothing and is left out. ``make mutations`` runs 200; what was found stands in
``build/mutations/results.jsonl``, and a run that was stopped continues there.
"""

import argparse
import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.changes import Change, changes_of, weight_of
from bench.covering import Covering, needs_postgres, record

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/mutations"
PROJECT = FOLDER / "project"
COVERED = FOLDER / "covered"
FAILED = FOLDER / "failed"
LIBRARIES = {
    "alembic", "argon2", "asyncpg", "aiosqlite", "aioftp", "click", "cryptography", "h11", "httpx",
    "dependency_injector", "httptools", "joserfc", "litestar", "msgspec", "openpyxl",
    "prometheus_client", "rich", "sqlalchemy.ext.asyncio", "trustme", "uvicorn", "uvloop",
    "vobject", "yaml", "zxcvbn",
}  # fmt: skip
STAGES = (20, 60)
"""Recorded seconds of the tests that a change runs after the near ones."""


def copy_project() -> list[str]:
    """Copy the project, and return the paths of its files."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    shutil.rmtree(PROJECT, ignore_errors=True)
    files = sorted(name for name in listed if (ROOT / name).is_file())
    for name in files:
        (PROJECT / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, PROJECT / name)
    return files


def draw(paths: Iterable[str], seed: int) -> list[Change]:
    """All changes, in the order in which they are tried."""
    found = [
        change
        for path in paths
        if path.endswith(".py") and weight_of(path)
        for change in changes_of(path, (PROJECT / path).read_text("utf-8"))
    ]
    chance = random.Random(seed)
    # Weighted, without repetition (Efraimidis and Spirakis, 2006).
    return sorted(found, key=lambda one: -(chance.random() ** (1 / weight_of(one.path))))


def covering(paths: Iterable[str], workers: int) -> Covering:
    """What the tests execute; recorded again after a change of the source."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update((PROJECT / path).read_bytes())
    made_of = FOLDER / "made-of"
    if not made_of.exists() or made_of.read_text() != whole.hexdigest():
        made_of.unlink(missing_ok=True)
        (FOLDER / "results.jsonl").unlink(missing_ok=True)
        record(PROJECT, COVERED, workers)
        made_of.write_text(whole.hexdigest())
    covered = Covering(COVERED, PROJECT)
    for test in covered.failed:
        print(f"not used, as it fails without a change: {test}", flush=True)
    return covered


def statement_of(change: Change) -> range:
    """The lines of the innermost statement with the change; of a block, those of its head."""
    tree = ast.parse((PROJECT / change.path).read_text("utf-8"))
    found = range(change.line, change.line + 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= change.line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or 0
            if change.line <= max(end, node.lineno):
                found = range(node.lineno, max(end, node.lineno) + 1)
    return found


def stages_of(
    near: Sequence[str], others: Sequence[str], seconds: dict[str, float]
) -> list[list[str]]:
    """The near tests; the first ones of the others; and then the first ones of each file."""
    rest, stages = list(others), [list(near)]
    for number, limit in enumerate(STAGES):
        files: dict[str, int] = {}
        turns = {}
        for test in rest:
            file = test.partition("::")[0]
            turns[test] = files[file] = files.get(file, 0) + 1 if number else 1
        spent, stage = 0.0, []
        for test in sorted(rest, key=lambda one: (needs_postgres(one), turns[one])):
            if spent < limit:
                spent += seconds.get(test, 0)
                stage.append(test)
        stages.append(stage)
        rest = [test for test in rest if test not in set(stage)]
    return [stage for stage in stages if stage]


def noticed(change: Change, stages: Sequence[list[str]], seconds: dict[str, float]) -> str:
    """The test that fails with the change, or nothing."""
    file = PROJECT / change.path
    whole = file.read_bytes()
    for stage in stages:
        left = stage
        while left:
            file.write_bytes(whole[: change.start] + change.after.encode() + whole[change.end :])
            try:
                failing = failing_of(left, 120 + 5 * sum(seconds.get(one, 5) for one in left))
            finally:
                file.write_bytes(whole)
            if failing is None:
                break
            if failing not in left or usable(failing):
                return failing
            left = [test for test in left if test != failing]
    return ""


@functools.cache
def usable(test: str) -> bool:
    """Whether a test passes without a change; only then it says something about one."""
    if failing_of([test], 300) is None:
        return True
    print(f"not used, as it fails without a change: {test}", flush=True)
    return False


def failing_of(tests: Sequence[str], seconds: float) -> str | None:
    """The first of the tests that fails; the last one begun, if the time is over."""
    FAILED.write_text("the import of the tests")
    child = os.fork()
    if child == 0:
        _run(tests, int(seconds))
    try:
        _, status = os.waitpid(child, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    passed = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
    return None if passed else FAILED.read_text()


class Begun:
    """Plug-in of pytest: which test runs."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the test."""
        FAILED.write_text(nodeid)


def _run(tests: Sequence[str], seconds: int) -> None:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.alarm(seconds)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(PROJECT)
    os.environ["PYTHONPATH"] = str(PROJECT / "src")
    sys.path.insert(0, str(PROJECT / "src"))
    options = ["-x", "-q", "--assert=plain", "-p", "no:xdist", "-p", "no:cacheprovider"]
    os._exit(int(importlib.import_module("pytest").main([*options, *tests], [Begun()])))


def main() -> None:
    """Draw places and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="src/", help="beginning of the paths")
    parser.add_argument("--workers", type=int, default=2, help="for the run with coverage")
    parser.add_argument("--again", action="store_true", help="try what survived once more")
    parser.add_argument("--with", dest="more", nargs="*", default=[], help="tests to run first")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the tests that run end, too
    source = [path for path in copy_project() if path.startswith("src/")]
    drawn = draw([path for path in source if path.startswith(options.only)], options.seed)
    covered = covering(source, options.workers)
    for library in LIBRARIES:
        importlib.import_module(library)
    results = FOLDER / "results.jsonl"
    known = {}
    if results.exists():
        for line in results.read_text("utf-8").splitlines():
            change, by = json.loads(line)
            known[Change(*change)] = by
    survivors = []
    for number, change in enumerate(drawn[: options.count], 1):
        place = f"{change.path}:{change.line}: {change.before!r} -> {change.after!r}"
        if change not in known or (options.again and not known[change]):
            began = time.monotonic()
            near, others = covered.tests_of(change.path, statement_of(change))
            stages = stages_of([*options.more, *near], others, covered.seconds)
            known[change] = noticed(change, stages, covered.seconds)
            with results.open("a", encoding="utf-8") as file:
                print(json.dumps((change, known[change])), file=file)
            outcome = known[change] or "survives"
            print(f"{number}: {place}: {outcome}, {time.monotonic() - began:.0f} s", flush=True)
        if not known[change]:
            survivors.append(place)
    print(*survivors, sep="\n")
    count = min(options.count, len(drawn))
    print(f"{count} of {len(drawn)} places with the seed {options.seed}: {len(survivors)} survive")


if __name__ == "__main__":
    main()
