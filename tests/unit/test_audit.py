"""A failed audit of dependencies does not report a success."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PLACE = Path(__file__).parents[2] / "bench" / "audit.py"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOUND = {"name": "sound", "version": "1.0", "vulns": []}
FLAWED = {
    "name": "flawed",
    "version": "1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}, {"id": "PYSEC-2", "fix_versions": []}],
}
SKIPPED = {"name": "skipped", "skip_reason": "Dependency not found on PyPI"}


def report(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(packages), "fixes": []}


def test_audit_without_vulnerabilities_succeeds(audit: ModuleType) -> None:
    good, (line,) = audit.judged(report(SOUND, SOUND), complete=True)

    assert good
    assert line == "pip-audit: 2 packages of requirements/run.txt audited, 0 flaws known"


@pytest.mark.parametrize("complete", [False, True])
def test_audit_vulnerability_is_named_with_its_fixed_version(
    audit: ModuleType, complete: bool
) -> None:
    good, lines = audit.judged(report(SOUND, FLAWED), complete=complete)

    assert not good
    assert lines == [
        "pip-audit: flawed 1.0: PYSEC-1, fixed in 1.1",
        "pip-audit: flawed 1.0: PYSEC-2, fixed in no version yet",
        "pip-audit: 2 packages of requirements/run.txt audited, 2 flaws known",
    ]


@pytest.mark.parametrize("result", [report(SOUND, SKIPPED), report(SKIPPED), report(), None])
def test_audit_skipped_packages_are_reported(
    audit: ModuleType, result: dict[str, Any] | None
) -> None:
    good, lines = audit.judged(result, complete=False)
    assert good
    assert any("NOT AUDITED" in line for line in lines)
    assert not audit.judged(result, complete=True)[0]


def test_accepted_security_finding_is_accepted_by_both_linters() -> None:
    """Ruff and bandit have the same rules: make audit is not part of make test."""
    marked = [
        line
        for path in (PLACE.parents[1] / "src").rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"noqa: S\d", line)
    ]

    assert len(marked) >= 5
    assert [line for line in marked if "nosec B" not in line] == []
