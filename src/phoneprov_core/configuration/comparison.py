"""The computation of a dry run over configurations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from phoneprov_core.configuration.diff import unified_diff
from phoneprov_core.configuration.findings import Finding
from phoneprov_core.configuration.lint import lint
from phoneprov_core.configuration.masking import NumberedStars, masked
from phoneprov_core.configuration.reset import needing_reset
from phoneprov_core.kernel.redaction import redacted


class Comparison(Struct, frozen=True, kw_only=True):
    """A configuration, and the one to compare it with (None: no diff).

    Both are without a fault (see ``well_formed``). ``mac`` and ``family`` are those of
    ``lint``.
    """

    old: str | None
    new: str
    old_label: str = ""
    new_label: str = ""
    mac: str | None = None
    family: str | None = None

    def __repr__(self) -> str:
        return redacted(self, "old", "new")


class Compared(Struct, frozen=True):
    """The unified diff of the masked texts, the names of the changed elements that take effect
    after a reset only, and the findings in the new text."""

    diff: str | None
    needs_reset: tuple[str, ...]
    findings: tuple[Finding, ...]


def compare(comparison: Comparison) -> Compared:
    """Compute all three. The cost is linear: at most about a second for two texts of 512 KiB."""
    old, new = comparison.old, comparison.new
    diff = None
    if old is not None:
        mask = NumberedStars()
        diff = unified_diff(
            masked(old, mask),
            masked(new, mask),
            old_label=comparison.old_label,
            new_label=comparison.new_label,
        )
    content = new.encode()
    findings = lint(
        content, mac=comparison.mac, family=comparison.family, largest=max(len(content), 1)
    )
    return Compared(diff, needing_reset(old, new) if old is not None else (), findings)


Compare = Callable[[Comparison], Awaitable[Compared]]
"""Port: the result of ``compare``, computed without blocking other requests.

Raises ``Unavailable`` if the computation does not finish in time.
"""
