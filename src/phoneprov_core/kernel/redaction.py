"""Representations that keep secrets out of logs and tracebacks."""

from __future__ import annotations

from msgspec import UNSET, Struct


def redacted(struct: Struct, *secret: str) -> str:
    """The usual representation, with ``***`` for each secret field that is set."""
    shown = []
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        hidden = name in secret and value is not None and value is not UNSET
        shown.append(f"{name}={'***' if hidden else repr(value)}")
    return f"{type(struct).__name__}({', '.join(shown)})"
