"""What is known to be insecure: make audit.

Bandit reads our sources; pip-audit asks PyPI's advisories about every package that the service
is installed with. Ends with 1 when either has found something.

Where PyPI's advisories cannot be asked, pip-audit passes packages over and still says that it
found nothing. That is told apart here: what was not audited is counted, and with
``PHONEPROV_AUDIT=complete``, as for a release, it ends with 1 as well.
"""

from __future__ import annotations

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
    """Whether it has nothing to object to."""
    told = subprocess.run(
        [sys.executable, "-m", "bandit", "--quiet", "-c", "pyproject.toml", "-r", "src"],
        cwd=ROOT,
        check=False,
    )
    print("bandit: nothing found in src" if told.returncode == 0 else "bandit: see above")
    return told.returncode == 0


def asked() -> Mapping[str, Any] | None:
    """What pip-audit reports, None when it could not report anything."""
    told = subprocess.run(
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
        report: Mapping[str, Any] = json.loads(told.stdout)
    except ValueError:
        print(told.stderr[-2000:], file=sys.stderr)
        return None
    return report


def judged(report: Mapping[str, Any] | None, *, complete: bool) -> tuple[bool, list[str]]:
    """Whether that is good enough, and what there is to say."""
    packages = [] if report is None else report["dependencies"]
    known = [package for package in packages if "skip_reason" not in package]
    lines = [
        f"pip-audit: {package['name']} {package['version']}: {flaw['id']}, "
        f"mended in {', '.join(flaw['fix_versions']) or 'no version yet'}"
        for package in known
        for flaw in package["vulns"]
    ]
    good = not lines
    lines.append(f"pip-audit: {len(known)} packages of {LOCK} audited, {len(lines)} flaws known")
    if not packages or len(known) < len(packages):
        missing = f"{len(packages) - len(known)} packages" if packages else "any package"
        lines.append(f"pip-audit: NOT AUDITED, for PyPI's advisories do not tell of: {missing}")
        good &= not complete
    return good, lines


def main() -> None:
    clean = bandit()
    good, lines = judged(asked(), complete=os.environ.get("PHONEPROV_AUDIT") == "complete")
    print("\n".join(lines))
    sys.exit(0 if clean and good else 1)


if __name__ == "__main__":
    main()
