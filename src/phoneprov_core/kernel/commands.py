"""Commands: the input of use cases, checked in one place.

A command is a frozen Struct with the fields that may be written. The type of a field names its rule
(``Annotated[str, Check(addresses.mac)]``). A command checks itself when it is created, so a command
that exists is valid and in canonical form.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import force_setattr, replace

from phoneprov_core.kernel.errors import Conflict, Invalid, Problem
from phoneprov_core.kernel.fields import Redacted, Rule, expected, fields_of

C = TypeVar("C", bound=Struct)

_TRUTH = {"true": True, "false": False}
_WHOLE = re.compile("-?[0-9]{1,19}")
E = TypeVar("E", bound=Struct)
R = TypeVar("R", bound=Struct)

Rules = Mapping[str, Rule]
"""Rules by the name of their field."""

NO_RULES: Rules = {}
MUST_AGREE = "must agree with the record that is addressed"


class Command(Redacted, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all commands: it checks itself, and accepts no unknown fields."""

    OF_A_QUERY: ClassVar[bool] = False

    @classmethod
    def missing(cls, given: Mapping[str, object]) -> list[Problem]:  # noqa: ARG003
        """The problems of what is not given, beyond the fields that are always required."""
        return []

    def problems(self) -> list[Problem]:
        """What is wrong with the fields together, each of which is valid and in canonical form."""
        return []

    def __post_init__(self) -> None:
        normalise(self)
        if problems := self.problems():
            raise invalid(problems)


class QueryCommand(Command, frozen=True, kw_only=True):
    """The base of commands that are read from the query of a URL, which has no null."""

    OF_A_QUERY: ClassVar[bool] = True


def normalise(command: Struct) -> None:
    """Put every field into canonical form; raises ``Invalid`` with each invalid field. Empty text
    of a field that may be null is null."""
    problems: list[Problem] = []
    for field in fields_of(type(command)):
        value = getattr(command, field.name)
        normal = None if value == "" and field.nullable else value
        if field.rule is not None:
            normal = _checked(field.rule, field.sent_as, normal, problems)
        if normal is not value:
            force_setattr(command, field.name, normal)
    if problems:
        raise invalid(problems)


def command_of(command: type[C], given: Mapping[str, object], rules: Rules = NO_RULES) -> C:
    """The command with these fields. ``rules`` are as in :func:`obey`. Raises ``Invalid`` with
    every invalid field: unknown, missing, of the wrong type, or against a rule."""
    problems: list[Problem] = []
    typed: dict[str, Any] = {}
    fields = {field.sent_as: field for field in fields_of(command)}
    for name, value in given.items():
        if name not in fields:
            problems.append(Problem(name, "is not a field of this request"))
            continue
        read = None if value == "" and fields[name].nullable else whole(value)
        item = fields[name].item
        try:
            if item is not None and isinstance(read, list):
                wrong_items = len(problems)
                made_items = _items(item, name, read, problems)
                # The rule of the list is about all its elements.
                if len(problems) == wrong_items:
                    typed[fields[name].name] = made_items
                continue
            typed[fields[name].name] = msgspec.convert(read, fields[name].type)
        except msgspec.ValidationError:
            problems.append(Problem(name, expected(fields[name].type)))
    if issubclass(command, Command):
        problems += command.missing(given)
    problems += [
        Problem(field.sent_as, "is required")
        for field in fields.values()
        if field.required and field.sent_as not in given
    ]
    if problems:
        own = {name: field.rule for name, field in fields.items() if field.rule}
        raise invalid(_all_broken(rules, typed, [*problems, *_broken(own, typed)]))
    try:
        made = command(**typed)
    except Invalid as error:
        raise invalid(_all_broken(rules, typed, error.problems)) from None
    obey(rules, made)
    return made


def _items(
    item: type[Command], name: str, given: Sequence[object], problems: list[Problem]
) -> tuple[Command, ...]:
    """The commands of a list. Adds every problem of each, such as of ``people[2].email``."""
    made: list[Command] = []
    for number, one in enumerate(given):
        if not isinstance(one, dict):
            problems.append(Problem(f"{name}[{number}]", "must be an object"))
            continue
        try:
            made.append(command_of(item, one))
        except Invalid as error:
            problems += within_item(name, number, error.problems)
    return tuple(made)


def within_item(name: str, number: int, problems: Sequence[Problem]) -> list[Problem]:
    """The problems of an element of a list, the first of which has the number 0."""
    return [
        Problem(f"{name}[{number}].{one.field}".removesuffix("."), one.message) for one in problems
    ]


def command_of_texts(command: type[C], given: Mapping[str, str]) -> C:
    """The command with these fields, each given as text: ``5``, ``true``. A field that may be null
    is None if it is not given. Raises as :func:`command_of`."""
    types = {field.sent_as: field.type for field in fields_of(command)}
    values = {name: _value(text, types[name]) for name, text in given.items()}
    try:
        return command_of(command, values)
    except Invalid as error:
        raise invalid(
            [Problem(one.field, one.message.removesuffix(" or null")) for one in error.problems]
        ) from None


def _value(text: str, annotation: Any) -> object:
    try:
        return msgspec.convert(text, annotation)
    except msgspec.ValidationError:
        if text in _TRUTH:
            return _TRUTH[text]
        return int(text) if _WHOLE.fullmatch(text) else text


def obey(rules: Rules, command: Struct) -> None:
    """Check rules that depend on settings or other fields. Raises ``Invalid`` with each problem."""
    problems = _broken(rules, {name: getattr(command, name) for name in rules})
    if problems:
        raise invalid(problems)


def require_same(field: str, sent: object, stored: object) -> None:
    """Raises ``Invalid`` when a patch has another value for a field that never changes."""
    if sent is not UNSET and sent != stored:
        raise wrong(field, MUST_AGREE)


def require_newest(newest: int, sent: object, one: str, changed: type[Conflict]) -> None:
    """Raises ``changed`` when a patch of ``one`` is based on another revision than the newest."""
    if sent is not UNSET and sent != newest:
        raise changed(
            f"This {one} has revision {newest}, not {sent}: it was changed meanwhile. "
            "Read it again.",
            problems=(Problem("revision", f"must be {newest}, the newest"),),
        )


def applied(entity: E, patch: Struct, **more: Any) -> E:
    """The entity with the fields that the patch sets, and ``more``."""
    changes = {
        name: value
        for name in patch.__struct_fields__
        if (value := getattr(patch, name)) is not UNSET
    }
    return replace(entity, **{**changes, **more})


def record_of(record: type[R], source: Struct, **more: Any) -> R:
    """A record with the fields of a command or of another record, and ``more``. A field that
    neither has is null if it may be null."""
    names = record.__struct_fields__
    copied = {name: getattr(source, name) for name in source.__struct_fields__ if name in names}
    return filled(record, **{**copied, **more})


def filled(record: type[R], **given: Any) -> R:
    """A record with these fields, and null in each other field that may be null."""
    nulls = {field.name: None for field in fields_of(record) if field.required and field.nullable}
    return record(**{**nulls, **given})


def wrong(field: str, message: str) -> Invalid:
    """The error of one field; ``message`` continues its name."""
    return invalid([Problem(field, message)])


def invalid(problems: list[Problem]) -> Invalid:
    """The error that names every problem, the first one in its message."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Invalid(f"The field {first.field} {first.message}{more}.", problems=tuple(problems))


def _all_broken(
    rules: Rules, given: Mapping[str, Any], problems: Sequence[Problem]
) -> list[Problem]:
    """The problems, and problems by the rules. A rule is not applied to a field that is already
    refused: its text may be of any length."""
    refused = {problem.field for problem in problems}
    others = {name: rule for name, rule in rules.items() if name not in refused}
    return [*problems, *_broken(others, given)]


def _broken(rules: Mapping[str, Rule], given: Mapping[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    for name, rule in rules.items():
        _checked(rule, name, given.get(name), problems)
    return problems


def _checked(rule: Rule, name: str, value: Any, problems: list[Problem]) -> Any:
    """The canonical form of a value; adds a problem if it breaks the rule."""
    if value is None or value is UNSET:
        return value
    try:
        return rule(value)
    except ValueError as error:
        problems.append(Problem(name, str(error)))
        return value


def whole(value: object) -> object:
    """The value; a float without a fraction as an integer."""
    # To JSON, 1.0 is the whole number 1.
    return int(value) if isinstance(value, float) and value.is_integer() else value
