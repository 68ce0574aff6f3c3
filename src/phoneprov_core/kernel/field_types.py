"""The types of fields: their rules, their form in words, and which of them are secret."""

import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints as hints_of,
)

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Rule = Callable[[Any], Any]
"""Takes a value and returns its canonical form. Raises ``ValueError`` with a text that continues
the field's name, such as "must not be empty"."""


class Check(NamedTuple):
    """Marks a field: ``rule`` returns the canonical form of its value, or raises ValueError."""

    rule: Rule


RULE = "rule"
"""The key of the rule in ``Meta.extra``, for a description that says the same."""


class Secret:
    """Marks a field whose value is never shown in logs and tracebacks."""


SECRET = Secret()


class CommandField(NamedTuple):
    """A field of a command, ``sent_as`` this name; for a ``nullable`` one empty text is null."""

    name: str
    sent_as: str
    type: Any
    required: bool
    rule: Rule | None
    is_secret: bool
    nullable: bool


@cache
def fields_of(command: type[Struct]) -> tuple[CommandField, ...]:
    """The fields of a command, in their order."""
    hints = hints_of(command, include_extras=True)
    takes_null = not getattr(command, "OF_A_QUERY", False)
    return tuple(
        _field(info, hints[info.name], takes_null=takes_null)
        for info in msgspec.structs.fields(command)
    )


def _field(info: msgspec.structs.FieldInfo, annotation: Any, *, takes_null: bool) -> CommandField:
    notes = list(_notes(annotation))
    rule = next((rule for rule in map(_rule_of, notes) if rule is not None), None)
    return CommandField(
        info.name,
        info.encode_name,
        annotation,
        info.required,
        rule,
        SECRET in notes,
        takes_null and may_be_null(annotation),
    )


def _rule_of(note: object) -> Rule | None:
    if isinstance(note, Meta) and note.extra:
        return note.extra.get(RULE)
    return note.rule if isinstance(note, Check) else None


def _notes(annotation: Any) -> Iterator[Any]:
    """The metadata of a type, that of the outermost, the most specific one first."""
    if get_origin(annotation) is Annotated:
        yield from reversed(annotation.__metadata__)
        yield from _notes(annotation.__origin__)
    elif get_origin(annotation) in {Union, types.UnionType}:
        for part in get_args(annotation):
            yield from _notes(part)


_WORDS = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}


@cache
def expected(annotation: Any) -> str:
    """The expected types, as text: "must be text or null"."""
    words: list[str] = []
    _collect_words(annotation, words)
    return "must be " + " or ".join(dict.fromkeys(words))


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def may_be_null(annotation: Any) -> bool:
    """Whether null is a value of the type."""
    words: list[str] = []
    _collect_words(annotation, words)
    return "null" in words


def _collect_words(annotation: Any, words: list[str]) -> None:
    origin = get_origin(annotation)
    if origin is Annotated:
        _collect_words(annotation.__origin__, words)
    elif origin in {Union, types.UnionType}:
        for part in get_args(annotation):
            _collect_words(part, words)
    elif annotation is type(None):
        words.append("null")
    elif annotation is UnsetType:
        pass
    elif origin is Literal:
        words.append("one of " + ", ".join(value for value in get_args(annotation) if value))
    elif origin is tuple or origin is list:
        inner = get_args(annotation)[0]
        words.append("a list of objects" if _is_struct(inner) else "a list of text")
    elif origin is dict:
        words.append("an object of texts")
    else:
        words.append(_WORDS.get(annotation, "something else"))


class _Hidden:
    def __repr__(self) -> str:
        return "***"


class Redacted(Struct, frozen=True):
    """A struct whose representations, that for ``rich`` too, have ``***`` for each field of a type
    with ``SECRET`` that is set."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        secret = {field.name for field in fields_of(type(self)) if field.is_secret}
        shown = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            hidden = name in secret and value is not None and value is not UNSET
            shown.append((name, _Hidden() if hidden else value))
        return shown

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({shown})"
