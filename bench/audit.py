"""Known vulnerabilities and insecure code: make audit.

Bandit checks the sources of the project; pip-audit looks up every package that the service is
installed with in PyPI's advisories. Exits with 1 if one of them has a finding.

If PyPI's advisories cannot be read, pip-audit skips packages and still reports no finding. The
packages that were not audited are counted here. With ``PHONEPROV_AUDIT=complete``, as for a
release, they make the exit code 1 as well.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = "requirements/run.txt"


def bandit() -> bool:
    """Whether bandit has no finding."""
    process = subprocess.run(
        [sys.executable, "-m", "bandit", "--quiet", "-c", "pyproject.toml", "-r", "src"],
        cwd=ROOT,
        check=False,
    )
    print("bandit: nothing found in src" if process.returncode == 0 else "bandit: see above")
    return process.returncode == 0


def audited() -> Mapping[str, Any] | None:
    """The report of pip-audit; None if it made none."""
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--requirement", LOCK, "--require-hashes"),
            *("--disable-pip", "--progress-spinner", "off", "--format", "json"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report: Mapping[str, Any] = json.loads(process.stdout)
    except ValueError:
        print(process.stderr[-2000:], file=sys.stderr)
        return None
    return report


def judged(report: Mapping[str, Any] | None, *, complete: bool) -> tuple[bool, list[str]]:
    """Whether the report is accepted, and the lines to print."""
    packages = [] if report is None else report["dependencies"]
    known = [package for package in packages if "skip_reason" not in package]
    lines = [
        f"pip-audit: {package['name']} {package['version']}: {flaw['id']}, "
        f"fixed in {', '.join(flaw['fix_versions']) or 'no version yet'}"
        for package in known
        for flaw in package["vulns"]
    ]
    good = not lines
    lines.append(f"pip-audit: {len(known)} packages of {LOCK} audited, {len(lines)} flaws known")
    if not packages or len(known) < len(packages):
        missing = f"{len(packages) - len(known)} packages" if packages else "any package"
        lines.append(f"pip-audit: NOT AUDITED, because PyPI has no advisories for {missing}")
        good &= not complete
    return good, lines


def main() -> None:
    clean = bandit()
    good, lines = judged(audited(), complete=os.environ.get("PHONEPROV_AUDIT") == "complete")
    print("\n".join(lines))
    sys.exit(0 if clean and good else 1)


if __name__ == "__main__":
    main()
