"""Findings in a configuration."""

from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.fields import schema

MOST_FINDINGS = 200
"""Maximum number of findings reported. Further ones are counted in a last finding."""


class Severity(Enum):
    """Severity of a finding."""

    ERROR = "error"
    """The phone rejects the file or applies a wrong setting."""
    WARNING = "warning"
    """The phone may behave otherwise than intended."""
    NOTE = "note"
    """For information."""


class Finding(Struct, frozen=True):
    """One finding and its position; lines and columns count from 1."""

    severity: Annotated[Severity, schema("Severity")]
    line: Annotated[int, schema("Line, from 1", minimum=1, examples=[3])]
    column: Annotated[int, schema("Column, from 1", minimum=1, examples=[5])]
    code: Annotated[str, schema("A slug for programs", examples=["unknown_element"])]
    message: Annotated[str, schema("Message without secrets")]


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Whether one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


class Findings:
    """Collects findings in bounded memory."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._count = 0

    def add(self, severity: Severity, line: int, column: int, code: str, message: str) -> None:
        """Add a finding. Positions may be added in any order."""
        self._count += 1
        self._found.append(Finding(severity, line, column, code, message))
        if len(self._found) > 4 * MOST_FINDINGS:
            self._drop_last()

    def sorted(self) -> tuple[Finding, ...]:
        """All findings in the order of their positions; only the first ``MOST_FINDINGS``, and
        then the number of the others at the position of the next one."""
        self._drop_last()
        found = self._found
        if self._count > MOST_FINDINGS:
            last = found[MOST_FINDINGS]
            more = f"{self._count - MOST_FINDINGS} more findings are left out from here on."
            note = Finding(Severity.NOTE, last.line, last.column, "more_findings", more)
            return (*found[:MOST_FINDINGS], note)
        return tuple(found)

    def _drop_last(self) -> None:
        self._found.sort(key=lambda one: (one.line, one.column, one.code))
        del self._found[MOST_FINDINGS + 1 :]
