"""Commands: what a caller asks to be written, checked in one place.

A command is a frozen Struct that holds only what may be written. Its fields say their rule
in their type (``Annotated[str, Check(values.mac)]``); ``__post_init__`` calls ``settle``, so
a command that exists is a command that is valid, in canonical form.

A caller over a wire has sent something that may not even be of the right shape, and must
not learn about its faults before it may act at all. Such input travels as ``Unchecked`` into
the use case, which calls ``checked`` at the right moment: after 401, 403 and 404.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

import msgspec
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_core.kernel.ids import known_id

C = TypeVar("C", bound=Struct)
E = TypeVar("E", bound=Struct)


Rule = Callable[[Any], Any]
"""Takes a value, answers its canonical form, raises ``ValueError`` with what it must be."""


class Check(NamedTuple):
    """Marks a field: its value goes through ``rule``, which raises ValueError or answers
    the canonical form."""

    rule: Rule


class _Field(NamedTuple):
    name: str
    type: Any
    required: bool
    rule: Rule | None


def settle(command: Struct) -> None:
    """Put every field into canonical form; raises ``Invalid`` naming each bad field."""
    problems = []
    for field in _fields(type(command)):
        value = getattr(command, field.name)
        if field.rule is None or value is None or value is UNSET:
            continue
        try:
            settled = field.rule(value)
        except ValueError as error:
            problems.append(Problem(field.name, str(error)))
            continue
        if settled is not value:
            msgspec.structs.force_setattr(command, field.name, settled)
    if problems:
        raise invalid(problems)


class Unchecked(Generic[C]):
    """What somebody sent for a command, not looked at yet.

    ``load`` answers the decoded body, whatever it is, and may raise the wire's own errors;
    it is called at the first look, once.
    """

    def __init__(self, command: type[C], load: Callable[[], object]) -> None:
        self._command = command
        self._load = load
        self._loaded: object = UNSET

    def _body(self) -> object:
        if self._loaded is UNSET:
            self._loaded = self._load()
        return self._loaded

    def peek(self, field: str) -> str | None:
        """The text in a field, if there is text; for checks that come before validity."""
        body = self._body()
        value = body.get(field) if isinstance(body, dict) else None
        return value if isinstance(value, str) else None

    def checked(
        self, read_only: frozenset[str], same: Mapping[str, object], rules: Mapping[str, Rule]
    ) -> C:
        """The command. ``same`` and ``rules`` are those of :func:`checked`."""
        body = self._body()
        if not isinstance(body, dict):
            raise Invalid("The body must be a JSON object.", problems=(_not_an_object(),))
        problems = [
            Problem(name, "must agree with the record that is addressed")
            for name, value in same.items()
            if name in body and not _agrees(body[name], value)
        ]
        given: dict[str, Any] = {}
        fields = {field.name: field for field in _fields(self._command)}
        for name, value in body.items():
            if name in fields:
                try:
                    given[name] = msgspec.convert(_whole(value), fields[name].type)
                except msgspec.ValidationError:
                    problems.append(Problem(name, _expected(fields[name].type)))
            elif name not in read_only and name not in same:
                problems.append(Problem(name, "is not a field of this request"))
        problems += [
            Problem(field.name, "is required")
            for field in fields.values()
            if field.required and field.name not in body
        ]
        if problems:
            own = {name: field.rule for name, field in fields.items() if field.rule}
            raise invalid([*problems, *_broken(own, given), *_broken(rules, given)])
        try:
            command = self._command(**given)
        except Invalid as error:
            raise invalid([*error.problems, *_broken(rules, given)]) from None
        _obey(rules, command)
        return command


def checked(
    command: C | Unchecked[C],
    *,
    read_only: type[Struct] | None = None,
    same: Mapping[str, object] | None = None,
    rules: Mapping[str, Rule] | None = None,
) -> C:
    """The command in ``command``; raises ``Invalid`` naming each bad field.

    Fields of ``read_only``, the resource as it is answered, are ignored where the command
    lacks them, so that what was read can be sent back. Fields named in ``same`` are
    identifiers: they may stand in the body, and must agree with the value given here.
    ``rules`` are rules that only the use case knows, such as those that follow a setting.
    """
    if isinstance(command, Unchecked):
        ignored = frozenset(read_only.__struct_fields__ if read_only else ())
        return command.checked(ignored, same or {}, rules or {})
    _obey(rules or {}, command)
    return command


def peek_id(command: Struct | Unchecked[Any], field: str) -> str:
    """The identifier in one field of a command that may not be valid, in canonical form;
    empty when the field holds none."""
    if isinstance(command, Unchecked):
        return known_id(command.peek(field))
    value = getattr(command, field)
    return known_id(value if isinstance(value, str) else None)


def applied(entity: E, patch: Struct, **more: Any) -> E:
    """The entity with the fields that the patch sets, and ``more``."""
    changes = {
        name: value
        for name in patch.__struct_fields__
        if (value := getattr(patch, name)) is not UNSET
    }
    return msgspec.structs.replace(entity, **{**changes, **more})


def invalid(problems: list[Problem]) -> Invalid:
    """The error that names every problem, the first of them in its sentence."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Invalid(f"The field {first.field} {first.message}{more}.", problems=tuple(problems))


def _obey(rules: Mapping[str, Rule], command: Struct) -> None:
    problems = _broken(rules, {name: getattr(command, name) for name in rules})
    if problems:
        raise invalid(problems)


def _broken(rules: Mapping[str, Rule], given: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for name, rule in rules.items():
        value = given.get(name)
        if value is None or value is UNSET:
            continue
        try:
            rule(value)
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    return problems


def _whole(value: object) -> object:
    # To JSON, 1.0 is the whole number 1.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _agrees(sent: object, stored: object) -> bool:
    if isinstance(sent, str) and isinstance(stored, str):
        return len(sent) <= _LONGEST_IDENTIFIER and _flat(sent) == _flat(stored)
    return type(_whole(sent)) is type(stored) and sent == stored


def _flat(identifier: str) -> str:
    # One comparison for UUIDs and for every spelling of a MAC.
    return identifier.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", ":-.")
_LONGEST_IDENTIFIER = 64


def _not_an_object() -> Problem:
    return Problem("body", "must be a JSON object")


@cache
def _fields(command: type[Struct]) -> tuple[_Field, ...]:
    hints = hints_of(command, include_extras=True)
    return tuple(
        _Field(info.name, hints[info.name], info.required, _rule_in(hints[info.name]))
        for info in msgspec.structs.fields(command)
    )


def _rule_in(annotation: Any) -> Rule | None:
    if get_origin(annotation) is Annotated:
        for note in annotation.__metadata__:
            if isinstance(note, Check):
                return note.rule
        return _rule_in(annotation.__origin__)
    if get_origin(annotation) in {Union, types.UnionType}:
        for part in get_args(annotation):
            rule = _rule_in(part)
            if rule is not None:
                return rule
    return None


_WORDS = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}


@cache
def _expected(annotation: Any) -> str:
    """What to send instead, in words: "must be text or null"."""
    words: list[str] = []
    _collect_words(annotation, words)
    return "must be " + " or ".join(dict.fromkeys(words))


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
        words.append("a list of text")
    else:
        words.append(_WORDS.get(annotation, "something else"))
