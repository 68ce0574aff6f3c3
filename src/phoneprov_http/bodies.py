"""From the bytes of a body to what they say."""

from __future__ import annotations

import re
from itertools import islice

import msgspec

from phoneprov_core.kernel.errors import Invalid
from phoneprov_http.errors import Malformed, UnsupportedMediaType

MOST_FIELDS = 1000
MOST_ELEMENTS = 10_000

# What is smaller cannot hold enough to be costly.
_LARGE = 16 * 1024

# The end of a field's name. It may stand in a text too, but never so often in one of ours.
_NAMED = re.compile(rb'"[ \t\r\n]*:')
_MOST_NAMED = 20_000

_decode = msgspec.json.Decoder().decode
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decoded(content_type: str | None, content: bytes) -> object:
    """What a body says. Raises ``Malformed``, ``UnsupportedMediaType`` and ``Invalid``.

    No body of the interface comes near ``MOST_FIELDS`` or, in a list, ``MOST_ELEMENTS``; one
    that goes beyond them is made to cost memory and time, and is refused unread.
    """
    if content_type is not None:
        media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
        charsets = [p.removeprefix("charset=").strip('"') for p in parameters if "charset=" in p]
        if media_type != "application/json" or any(c not in {"utf-8", "utf8"} for c in charsets):
            raise UnsupportedMediaType("The body must be of the type application/json.")
    if not content:
        raise Malformed("The body is empty; a JSON object is expected.")
    try:
        if len(content) > _LARGE:
            _require_simple(content)
        return _decode(content)
    except msgspec.DecodeError as error:
        raise Malformed(f"The body is not JSON: {error}.") from None
    except UnicodeDecodeError:
        raise Malformed("The body is not UTF-8.") from None
    except RecursionError:
        raise Malformed("The body is nested too deeply.") from None


def _require_simple(content: bytes) -> None:
    """Raises ``Invalid`` for what holds too many things, ``msgspec.DecodeError`` and so on
    for what is no JSON."""
    values: list[bytes | msgspec.Raw] = [content]
    if content.lstrip().startswith(b"{"):
        # Fields side by side have commas between them; what has none is deep, and no JSON to us.
        many = next(islice(_NAMED.finditer(content), _MOST_NAMED, None), None) is not None
        if many and content.count(b",") >= _MOST_NAMED:
            raise _too_many_fields()
        fields = _split(content)
        if len(fields) > MOST_FIELDS:
            raise _too_many_fields()
        values = list(fields.values())
    for value in values:
        plain = bytes(value)
        # Every further thing in a list or an object stands behind a comma.
        if plain[:1] in b"[{" and plain.count(b",") >= MOST_ELEMENTS:
            raise Invalid(f"The body has a list of more than {MOST_ELEMENTS} elements.")


def _too_many_fields() -> Invalid:
    return Invalid(f"The body has more than {MOST_FIELDS} fields.")
