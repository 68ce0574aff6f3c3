"""Identifiers and the port that makes them."""

from __future__ import annotations

import re
from collections.abc import Callable

NewId = Callable[[], str]
"""Port: a fresh identifier, UUID text in lower case, never given twice."""


UUID = r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
"""A UUID, as a pattern."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def known_id(text: str | None) -> str:
    """The canonical form of a UUID; empty text, which names no record, for anything else."""
    canonical = text.lower() if isinstance(text, str) else ""
    return canonical if _UUID.fullmatch(canonical) else ""
