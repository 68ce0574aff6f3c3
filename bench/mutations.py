"""Changes places of the source one after the other, and reports the changes that no test notices.

The places are drawn with a seed: rules, security and adapters more often than the rest. Each change
runs the unit tests of its area, and if they pass, the contract tests of its area, in a fork of this
process, which has the libraries loaded. ``make mutations`` runs 200.
"""

import argparse
import ast
import contextlib
import functools
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/mutations"
PROJECT = FOLDER / "project"
LIBRARIES = {
    "alembic", "argon2", "asyncpg", "aiosqlite", "aioftp", "click", "cryptography", "h11", "httpx",
    "dependency_injector", "httptools", "joserfc", "litestar", "msgspec", "prometheus_client",
    "rich", "sqlalchemy.ext.asyncio", "trustme", "uvicorn", "uvloop", "vobject", "yaml", "zxcvbn",
}  # fmt: skip
WEIGHTS = {
    "phoneprov_core/kernel": 3,
    "phoneprov_core": 4,
    "phoneprov_adapters/security": 6,
    "phoneprov_adapters/testing": 0,
    "phoneprov_adapters/simulator": 0,
    "phoneprov_adapters/memory": 0,
    "phoneprov_adapters/sql/migrations": 0,
    "phoneprov_adapters": 3,
    "phoneprov_http/front": 4,
    "phoneprov_http/main": 1,
    "phoneprov_http": 2,
}
SECONDS = 600
AREAS = {
    "access": "contract/http/test_permissions.py",
    "front": "contract/http/test_envelope.py security/test_head.py security/test_forwarded.py",
    "phone_pages": "contract/desks",
    "phone": "contract/desks contract/phone contract/watching",
    "sql": "contract/stores contract/sql security/test_key_rotation.py",
    "tftp": "contract/provisioning",
    "transfer": "contract/files contract/cli/test_transfer.py",
    "security": "contract/auth security/test_key_rotation.py",
    "users": "contract/auth contract/http/test_users.py",
    "serving": "contract/cli/test_commands.py",
}
"""Tests of an area beside those in the folders and files of its name."""
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Change(NamedTuple):
    """A place, what stands there, and what it becomes."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str


def changes_of(path: str, source: str) -> Iterator[Change]:
    """Every change of a file that is known here."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    content = source.encode()
    for node in ast.walk(ast.parse(source)):
        for place, after in _changed(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
            before = content[start:end].decode()
            yield Change(path, place.lineno, start, end, before, after)


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.Raise):
        yield node, "pass"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
        if not ast.unparse(node).startswith(("log.", "super().")):
            yield node, "pass"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = OTHER[type(node.ops[0])]()
        yield node, f"({ast.unparse(ast.Compare(node.left, [other], node.comparators))})"
    elif isinstance(node, ast.BoolOp):
        yield node, f"({ast.unparse(ast.BoolOp(OTHER[type(node.op)](), node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"(bool({ast.unparse(node.operand)}))"
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
        if isinstance(node.value.value, bool):
            yield node.value, str(not node.value.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        yield node, str(node.value + 1)


def weight_of(path: str) -> int:
    """How often places of this file are drawn."""
    return next(
        (
            weight
            for start, weight in WEIGHTS.items()
            if path.startswith((f"src/{start}/", f"src/{start}."))
        ),
        1,
    )


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


def tests_of(path: str) -> list[list[str]]:
    """The unit tests of a module's area, and its contract tests."""
    parts = Path(path).with_suffix("").parts[2:]
    unit, contract = {}, {}
    for part in reversed(parts):
        for found in (f"unit/{part}", f"unit/{part}s"):
            unit |= {found: None}
        names = f"contract/{part} contract/http/test_{part}.py {AREAS.get(part, '')}"
        contract |= dict.fromkeys(names.split())
    stages = [[f"tests/{one}" for one in stage] for stage in (unit, contract)]
    return [found for stage in stages if (found := [x for x in stage if (PROJECT / x).exists()])]


def survives(change: Change) -> bool:
    """Whether all tests of its area pass with the change."""
    stages = [tests for tests in tests_of(change.path) if usable(" ".join(tests))]
    file = PROJECT / change.path
    whole = file.read_bytes()
    file.write_bytes(whole[: change.start] + change.after.encode() + whole[change.end :])
    try:
        return all(_pass(tests) for tests in stages)
    finally:
        file.write_bytes(whole)


@functools.cache
def usable(tests: str) -> bool:
    """Whether tests pass without a change; only then they say something about one."""
    if passed := _pass(tests.split()):
        return passed
    print(f"not used, as they fail without a change: {tests}", flush=True)
    return False


def _pass(tests: list[str]) -> bool:
    child = os.fork()
    if child == 0:
        _run(tests)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def _run(tests: list[str]) -> None:
    os.setsid()
    signal.alarm(SECONDS)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(PROJECT)
    os.environ["PYTHONPATH"] = str(PROJECT / "src")
    sys.path.insert(0, str(PROJECT / "src"))
    options = ["-x", "-q", "--assert=plain", "-p", "no:xdist", "-p", "no:cacheprovider"]
    options += ["-k", "not postgres and not pgbouncer"]
    os._exit(int(importlib.import_module("pytest").main([*options, *tests])))


def main() -> None:
    """Draw places and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="src/", help="beginning of the paths")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    sys.dont_write_bytecode = True
    paths = [path for path in copy_project() if path.startswith(options.only)]
    found = [
        change
        for path in paths
        if path.endswith(".py") and weight_of(path)
        for change in changes_of(path, (PROJECT / path).read_text("utf-8"))
    ]
    for library in LIBRARIES:
        importlib.import_module(library)
    chance = random.Random(options.seed)
    # Weighted, without repetition (Efraimidis and Spirakis, 2006).
    drawn = sorted(found, key=lambda one: -(chance.random() ** (1 / weight_of(one.path))))
    survivors = 0
    for number, change in enumerate(drawn[: options.count], 1):
        began, place = time.monotonic(), f"{change.path}:{change.line}"
        if survives(change):
            survivors += 1
            print(f"{place}: {change.before!r} -> {change.after!r} survives", flush=True)
        print(f"  {number}: {place}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    count = min(options.count, len(drawn))
    print(f"{count} of {len(found)} places with the seed {options.seed}: {survivors} survive")


if __name__ == "__main__":
    main()
