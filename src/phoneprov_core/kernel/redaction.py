"""Representations that keep secrets out of logs and tracebacks."""

from __future__ import annotations

from msgspec import UNSET, Struct

from phoneprov_core.kernel.field_types import fields_of


class Redacted(Struct, frozen=True):
    """A struct whose representation has ``***`` for each field of a type with ``SECRET``."""

    def __repr__(self) -> str:
        return redacted(self, *(field.name for field in fields_of(type(self)) if field.is_secret))


def redacted(struct: Struct, *secret: str) -> str:
    """The usual representation, with ``***`` for each secret field that is set."""
    shown = []
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        hidden = name in secret and value is not None and value is not UNSET
        shown.append(f"{name}={'***' if hidden else repr(value)}")
    return f"{type(struct).__name__}({', '.join(shown)})"
