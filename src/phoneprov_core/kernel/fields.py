"""Types of fields: their rules, their descriptions, and which of them are secret."""

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

from phoneprov_core.kernel import values, values as addresses
from phoneprov_core.kernel.values import Timestamp, uuid

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
    """A field of a command, ``sent_as`` this name; for a ``nullable`` one empty text is null.
    ``item`` is the command that each element of a list is."""

    name: str
    sent_as: str
    type: Any
    required: bool
    rule: Rule | None
    is_secret: bool
    nullable: bool
    item: Any


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
        _item_of(annotation),
    )


def from_to(least: int, most: int) -> Callable[[int], int]:
    """A check that a whole number is within these bounds."""

    def check(value: int) -> int:
        if not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


def each(check: Callable[[str], str], *, most: int) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """A check of a list that applies a check to each element."""

    def check_all(values: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) > most:
            raise ValueError(f"must have at most {most} elements")
        return tuple(check(value) for value in values)

    return check_all


def _item_of(annotation: Any) -> Any:
    while get_origin(annotation) in {Annotated, Union, types.UnionType}:
        annotation = get_args(annotation)[0]
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else None
    # A command has its own rules; the elements of other lists have the rules of the field.
    return inner if _is_struct(inner) and hasattr(inner, "missing") else None


def _rule_of(note: object) -> Rule | None:
    if isinstance(note, Meta) and note.extra:
        return note.extra.get(RULE)
    return note.rule if isinstance(note, Check) else None


def _notes(annotation: Any) -> Iterator[Any]:
    """The metadata of a type; the outermost, most specific metadata is first."""
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


def schema(description: str = "", /, **keywords: Any) -> Meta:
    """A description, and JSON schema keywords, which the rule of the field enforces."""
    described = {"description": description} if description else {}
    return Meta(extra_json_schema={**described, **keywords})


def within(least: int, most: int, description: str = "", /, **keywords: Any) -> Meta:
    """The bounds of a whole number: a rule, which the description of the field states too."""
    bounds = {"minimum": least, "maximum": most}
    described = {"description": description} if description else {}
    return Meta(
        extra_json_schema={**described, **bounds, **keywords},
        extra={RULE: from_to(least, most)},
    )


# Control characters are not valid in a line of text; the pattern documents this.
_ANY_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
_UNSEEN = rf"\x00-\x1f\x7f-\x9f{values.HIDDEN}"
_LINE = rf"^[^{_UNSEEN}]*$"
_LINE_NOT_BLANK = rf"^[^{_UNSEEN}]*[^\s{_UNSEEN}][^{_UNSEEN}]*$"

MAC = (
    r"^(?!0[0:.-]*$)[0-9A-Fa-f][02468ACEace](?:[0-9A-Fa-f]{10}|(?::[0-9A-Fa-f]{2}){5}"
    r"|(?:-[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f]{4}){2})$"
)
"""A MAC in any spelling, as a pattern; neither all-zero nor broadcast nor multicast."""

_URL = (
    rf"^[Hh][Tt][Tt][Pp][Ss]?://(?:[^\s/?#\[\]{_UNSEEN}]*@)?"
    rf"(?:[^\s/?#@:\[\]{_UNSEEN}]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{0,5}})?"
    rf"(?:[/?#][^\s{_UNSEEN}]*)?$"
)

Line = Annotated[
    str, Check(values.required_text), schema(minLength=1, maxLength=255, pattern=_LINE_NOT_BLANK)
]
OptionalLine = Annotated[str, Check(values.line), schema(maxLength=255, pattern=_LINE)]
AnyLine = Annotated[str, Check(values.text), schema(maxLength=255, pattern=_ANY_LINE)]
Description = Annotated[
    str,
    Check(values.description),
    schema(maxLength=2048, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"),
]
Email = Annotated[
    str,
    Check(values.email),
    schema(maxLength=255, pattern=values.EMAIL, examples=["ada@example.com"]),
]
Language = Annotated[
    str,
    Check(values.language),
    schema("BCP 47 language tag", maxLength=255, pattern=values.LANGUAGE, examples=["en"]),
]
Timezone = Annotated[
    str,
    Check(values.timezone),
    schema(
        "IANA name of a time zone",
        pattern=r"^[A-Za-z0-9+_-]+(?:/[A-Za-z0-9+_-]+)*$",
        examples=["UTC"],
    ),
]
ServiceUrl = Annotated[
    str,
    Check(values.service_url),
    schema(
        "Address with http or https, or a URI that phones execute (`Application:`, `Dial:`, "
        "`Init:`, `Key:`, `SoftKey:`, `tel:` and others). The service never requests it",
        maxLength=2048,
        pattern=f"{_URL}|{values.PHONE_URL}",
        examples=["http://pbx/menu.xml"],
    ),
]
MacAddress = Annotated[
    str,
    Check(addresses.mac),
    schema(
        "MAC address: 12 hexadecimal digits, separated by `:`, `-` or dots, or not separated",
        pattern=MAC,
        examples=["00:1B:D4:12:34:56"],
    ),
]
IpAddress = Annotated[
    str, Check(addresses.ip), schema("IPv4 or IPv6 address", maxLength=45, examples=["10.20.30.40"])
]
Uuid = Annotated[str, Check(uuid), schema(format="uuid")]
PinCode = Annotated[
    str,
    SECRET,
    Check(values.pin_code),
    schema(
        "4 to 32 digits, not one digit repeated, digits in order, or a number of the user. Only a "
        "hash is stored",
        pattern=values.PIN,
        examples=["2468"],
    ),
]
SoftwareType = Annotated[OptionalLine, schema("Firmware family; free text", examples=["SCCP"])]
Location = Annotated[OptionalLine, schema("Location", examples=["Berlin, third floor"])]
ExtensionNumber = Annotated[
    str,
    Check(values.extension_number),
    schema(
        "Extension number; unique",
        minLength=1,
        maxLength=255,
        pattern=values.NUMBER,
        examples=["1001"],
    ),
]
Moment = Annotated[
    str, Check(values.moment), schema(format="date-time", examples=["2026-01-31T08:15:30.250Z"])
]
Level = Annotated[int, within(0, 2**31 - 1)]

# What the fields of several records are.
RecordUuid = Annotated[Uuid, schema("Identifier, given by the service")]
UserUuid = Annotated[Uuid, schema("UUID of the user")]
CreatedAt = Annotated[Timestamp, schema("Time of creation")]
UpdatedAt = Annotated[Timestamp, schema("Time of the last change")]
EndedAt = Annotated[Timestamp, schema("Time of the end; null while it runs")]
CreatedIp = Annotated[str, schema("Client address of the creation", examples=["10.20.0.7"])]
UpdatedIp = Annotated[str, schema("Client address of the last change", examples=["10.20.0.7"])]
CreatedBy = Annotated[Uuid, schema("Account that created the record")]
UpdatedBy = Annotated[Uuid, schema("Account that last changed the record; null until then")]
StoredMac = Annotated[str, schema("MAC address in canonical form", examples=["00:1B:D4:12:34:56"])]
Notes = Annotated[
    Description, schema("Notes; line breaks are allowed", examples=["The desk by the window"])
]
DurationMs = Annotated[int, schema("Duration in milliseconds", minimum=0, examples=[120])]
Size = Annotated[int, schema("Size in bytes", minimum=0, examples=[2048])]
