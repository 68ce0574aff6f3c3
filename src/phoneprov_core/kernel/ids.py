"""Identifiers and the port that makes them."""

from __future__ import annotations

import uuid
from collections.abc import Callable

NewId = Callable[[], str]
"""Port: a fresh identifier, UUID text in lower case, never given twice."""


def known_id(text: str) -> str | None:
    """The canonical form of a UUID, or None for text that cannot name any record."""
    try:
        parsed = str(uuid.UUID(text))
    except ValueError:
        return None
    return parsed if parsed == text.lower() else None
