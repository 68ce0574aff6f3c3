"""Request bodies: from bytes to a command.

A valid body is decoded once, straight into its command. Only when that fails the body is read
again as plain JSON, to name every invalid field.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any, get_args

import msgspec
from litestar.dto import AbstractDTO
from litestar.exceptions import ImproperlyConfiguredException
from litestar.openapi.spec import Schema
from litestar.typing import FieldDefinition

from phoneprov_core.kernel.commands import MUST_AGREE, NO_RULES, Command, Rules, command_of, invalid
from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_http.errors import Malformed, UnsupportedMediaType

MOST_FIELDS = 1000
MOST_ELEMENTS = 10_000
_TOO_MANY_FIELDS = f"The body has more than {MOST_FIELDS} fields."

# What is smaller cannot hold enough to be costly.
_LARGE = 16 * 1024

# The end of a field's name. It may be part of a text too, but never so often in a valid body.
_NAMED = re.compile(rb'"[ \t\r\n]*:')
_MOST_NAMED = 20_000

_decode = msgspec.json.Decoder().decode
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decoder = cache(msgspec.json.Decoder)

RULES = "rules"
"""The key of a handler's ``opt`` for the rules of its use case: a function that returns them. They
are checked together with the fields, so that a failure names every invalid field."""


class Body(AbstractDTO[Any]):
    """Decodes the body of every handler that takes ``data``, a command.

    Unknown fields are refused. A body that may be omitted may be ``null``. Where a record is
    written, a field that is named like a path parameter must agree with it.
    In a PUT the other fields of the record in the response are ignored, so that a record can be
    sent back as it was read; where a record is created only ``created_at``. Raises
    ``UnsupportedMediaType``, ``Malformed`` and ``Invalid``.
    """

    @classmethod
    def create_for_field_definition(
        cls,
        field_definition: FieldDefinition,
        handler_id: str,
        backend_cls: Any = None,  # noqa: ARG003
    ) -> None:
        if not field_definition.is_subclass_of(Command):
            raise ImproperlyConfiguredException(f"{handler_id} takes {field_definition.raw}")

    @classmethod
    def create_openapi_schema(cls, **_: Any) -> Schema:  # type: ignore[override]
        return Schema()  # the document completes it

    def decode_bytes(self, value: bytes) -> Command:
        connection = self.asgi_connection
        handler: Any = connection.route_handler
        command: type[Command] = handler.parsed_data_field.annotation
        require_json(connection.headers)
        if handler.parsed_data_field.has_default and value.strip() == b"null":
            absent: Command = handler.parsed_data_field.default
            return absent
        try:
            require_simple(value)
            made: Command = _decoder(command).decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Invalid):
            content = decoded(value)
        else:
            return made
        ignored = ignored_fields(handler)
        addressed = connection.path_params if writes(handler) else {}
        rules = handler.opt.get(RULES, dict)()
        return collected(command, content, addressed, ignored, rules)


def collected(
    command: type[Command],
    content: object,
    addressed: Mapping[str, str],
    ignored: frozenset[str] = frozenset(),
    rules: Rules = NO_RULES,
) -> Command:
    """The command that a body means. Raises ``Invalid`` naming every invalid field."""
    if not isinstance(content, dict):
        problem = Problem("body", "must be a JSON object")
        raise Invalid("The body must be a JSON object.", problems=(problem,))
    own = command.__struct_fields__
    disagree = [
        Problem(name, MUST_AGREE)
        for name, value in addressed.items()
        if name in content and name not in own and not _agrees(content[name], value)
    ]
    given = {
        name: value
        for name, value in content.items()
        if name in own or name not in ignored.union(addressed)
    }
    try:
        made = command_of(command, given, rules)
    except Invalid as error:
        raise invalid([*disagree, *error.problems]) from None
    if disagree:
        raise invalid(disagree)
    return made


def writes(handler: Any) -> bool:
    """Whether a handler writes the record that it returns."""
    return "PUT" in handler.http_methods or handler.status_code == 201


@cache
def fields_read(handler: Any) -> frozenset[str]:
    """The fields of the record that a handler returns, none if it returns no record."""
    (record,) = get_args(handler.parsed_return_field.annotation)
    return frozenset(getattr(record, "__struct_fields__", ()))


def ignored_fields(handler: Any) -> frozenset[str]:
    """The read-only fields that a body may hold."""
    if "PUT" in handler.http_methods:
        return fields_read(handler)
    if handler.status_code == 201:
        return fields_read(handler) & {"created_at"}
    return frozenset()


def require_json(headers: Mapping[str, str]) -> None:
    """Raises ``UnsupportedMediaType`` for all but plain JSON in UTF-8; no type at all is fine."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise UnsupportedMediaType(
            f"The body has the content coding {_shown(coding)}; send it without one."
        )
    content_type = headers.get("content-type", "application/json")
    if content_type == "application/json":
        return
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media_type != "application/json":
        raise UnsupportedMediaType("The body must be of the type application/json.")
    for parameter in parameters:
        name, _, charset = parameter.partition("=")
        charset = charset.strip().strip('"')
        if name.strip() == "charset" and charset not in {"utf-8", "utf8"}:
            raise UnsupportedMediaType(
                f"The body has the character set {_shown(charset)}; it must be utf-8."
            )


def _shown(sent: str) -> str:
    """A value of a header, without control characters and of a bounded length."""
    return "".join(one if one.isprintable() else "?" for one in sent[:40])


def decoded(content: bytes) -> object:
    """The plain values of a body. Raises ``Malformed`` and ``Invalid``.

    A body with more than ``MOST_FIELDS`` fields, or a list of more than ``MOST_ELEMENTS``, is
    sent to cost memory and time, and is refused unread.
    """
    try:
        require_simple(content)
        return _decode(content)
    except msgspec.DecodeError as error:
        raise Malformed(f"The body is not JSON: {error}.") from None
    except UnicodeDecodeError:
        raise Malformed("The body is not UTF-8.") from None
    except RecursionError:
        raise Malformed("The body is nested too deeply.") from None


def require_simple(content: bytes) -> None:
    """Raises ``Invalid`` for too many values, ``msgspec.DecodeError`` and others for a body that
    is not JSON."""
    if len(content) <= _LARGE:
        return
    values: list[bytes | msgspec.Raw] = [content]
    if content.lstrip().startswith(b"{"):
        # Fields of one object have commas between them; without commas the body is deep.
        many = next(islice(_NAMED.finditer(content), _MOST_NAMED, None), None) is not None
        if many and content.count(b",") >= _MOST_NAMED:
            raise Invalid(_TOO_MANY_FIELDS)
        values = list(_split(content).values())
        if len(values) > MOST_FIELDS:
            raise Invalid(_TOO_MANY_FIELDS)
    for value in values:
        plain = bytes(value)
        # Every further value of a list or an object follows a comma.
        if plain[:1] in b"[{" and plain.count(b",") >= MOST_ELEMENTS:
            raise Invalid(f"The body has a list of more than {MOST_ELEMENTS} elements.")


def _agrees(sent: object, addressed: str) -> bool:
    # No notation of an identifier is longer.
    return isinstance(sent, str) and len(sent) <= 64 and _flat(sent) == _flat(addressed)


def _flat(identifier: str) -> str:
    # One comparison for UUIDs and for every notation of a MAC.
    return identifier.lower().translate(str.maketrans("", "", ":-."))
