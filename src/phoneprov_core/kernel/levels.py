"""The rule of which levels an account holds.

By default, a user at level N holds the levels 0 through N. Level 0 is the superadmin level, so
*any* assignment makes a superadmin, and an account without one holds nothing. For ranks below
superadmin, the strict rule is configured: a smaller number outranks a larger one.
"""

from __future__ import annotations

from enum import Enum

SUPERADMIN = 0


class LevelRule(Enum):
    """The rule for an assigned level."""

    HIERARCHICAL = "hierarchical"
    """Level N holds the levels 0 through N."""

    STRICT = "strict"
    """Level N holds N and every larger level; level 0 alone holds level 0."""

    def holds(self, assigned: int | None, required: int) -> bool:
        """Whether an account assigned ``assigned`` (None: nothing) holds ``required``."""
        if assigned is None:
            return False
        if self is LevelRule.STRICT:
            return assigned <= required
        return required <= assigned

    def largest_that_holds_superadmin(self) -> int | None:
        """The largest assigned level that still holds level 0; None when every level does."""
        return SUPERADMIN if self is LevelRule.STRICT else None
