"""Identifiers and the port that creates them."""

from __future__ import annotations

import re
from collections.abc import Callable

NewId = Callable[[], str]
"""Port: a new identifier, UUID text in lower case, never returned twice."""


UUID = r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
"""A UUID, as a pattern."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def known_id(text: str | None) -> str:
    """The canonical form of a UUID; empty text, which is the key of no record, for any other
    text."""
    canonical = text.lower() if isinstance(text, str) else ""
    return canonical if _UUID.fullmatch(canonical) else ""
