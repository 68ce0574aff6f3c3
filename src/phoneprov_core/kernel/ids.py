"""Identifiers and the port that makes them."""

from __future__ import annotations

import uuid
from collections.abc import Callable

NewId = Callable[[], str]
"""Port: a fresh identifier, UUID text in lower case, never given twice."""


def known_id(text: str | None) -> str:
    """The canonical form of a UUID; empty text, which names no record, for anything else."""
    try:
        parsed = str(uuid.UUID(text))
    except (ValueError, TypeError, AttributeError):
        return ""
    return parsed if text is not None and parsed == text.lower() else ""
