"""Given texts that remember their names, the work that is left, and the filters."""

import re
from collections.abc import Callable, Sequence
from inspect import Signature, signature
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, pass_context
from jinja2.runtime import Context, Undefined

from phoneprov_core.features.templates.model import LONGEST_TEXT

WORK = " work"
"""The name of the ``Work`` in a context; no template can spell it."""

_MOST_NAMES = 8
"""Maximum number of names of a text: empty texts can be joined without end."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,15}\s*")


class Refusal(Exception):
    """The template uses what is not supported; the text is a sentence."""


class Exhausted(Refusal):
    """The work of a rendering has reached its bound."""


class Missing(StrictUndefined):
    """A name that is not given: it is false, and every other use is an error."""

    def __bool__(self) -> bool:  # type: ignore[override]
        return False


class NamedText(str):
    """An input text with its name. A text made of it has the same name, and is secret if the input
    is."""

    __slots__ = ("name", "secret")

    name: str
    secret: bool

    def __new__(cls, text: str, name: str, secret: bool = False) -> "NamedText":
        made = super().__new__(cls, text)
        made.name, made.secret = name, secret
        return made


class Work:
    """Counts the cost of one rendering, and notes the name of each output."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.outputs: list[tuple[str, bool]] = []

    def add(self, cost: int) -> None:
        """Raises ``Exhausted``."""
        self._left -= cost
        if self._left < 0:
            raise Exhausted("The template takes too much work: fewer or shorter loops and texts.")


def _made(context: Context, text: str, *sources: Any) -> str:
    """A text that was made of others, within the bounds."""
    _fits(len(text))
    context.parent[WORK].add(len(text) + 1)
    given = [source for source in sources if isinstance(source, NamedText)]
    if not given:
        return text
    names = dict.fromkeys(name for source in given for name in source.name.split())
    some = " ".join(islice(names, _MOST_NAMES))
    return NamedText(text, some, any(source.secret for source in given))


def _fits(length: int) -> None:
    if length > LONGEST_TEXT:
        raise Refusal(f"A text has more than {LONGEST_TEXT} characters.")


def _text(value: Any) -> str:
    """A text or a whole number as a text. Raises for everything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Undefined):
        return str(value)  # raises, with its name; empty for a condition without `else`
    raise Refusal("A text is needed here; this is a list or an object.")


@pass_context
def output_text(context: Context, value: Any) -> str:
    """What an output puts into the text; Jinja2 escapes it."""
    text = _text(value)
    if _CONTROL.search(text):
        raise Refusal("A given text contains a control character.")
    work: Work = context.parent[WORK]
    name, is_secret = (value.name, value.secret) if isinstance(value, NamedText) else ("", False)
    work.add(len(text) + len(name) + 1)
    work.outputs.append((name, is_secret))
    return str(text)


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, Undefined):
        bool(value == "")  # raises, with its name
    if not isinstance(value, list):
        raise Refusal("A list is needed here.")
    return value


@pass_context
def each(context: Context, value: Any, weight: int) -> Sequence[Any]:
    """The list of a loop, whose passes are paid for before the first."""
    elements = _list(value)
    context.parent[WORK].add(weight * len(elements))
    return elements


@pass_context
def concatenated(context: Context, *parts: Any) -> str:
    """``a ~ b``."""
    texts = [_text(part) for part in parts]
    _fits(sum(map(len, texts)))
    return _made(context, "".join(texts), *parts)


class _Searched(str):
    """A text that ``in`` searches; the search pays for its worst case."""

    __slots__ = ("work",)

    work: Work

    def __contains__(self, key: object) -> bool:
        text = _text(key)
        self.work.add(_search_cost(self, text))
        return str.__contains__(self, text)


def _search_cost(text: str, key: str) -> int:
    # CPython compares all of the key at each place in the worst case.
    return len(text) + len(text) * len(key) // 64


@pass_context
def searched(context: Context, value: Any) -> Any:
    """What ``in`` searches."""
    if isinstance(value, str):
        found = _Searched(value)
        found.work = context.parent[WORK]
        return found
    if not isinstance(value, (list, tuple)):
        raise Refusal("`in` searches a text or a list of constants.")
    context.parent[WORK].add(sum(1 + len(str(one)) // 64 for one in value))
    return value


@pass_context
def compared(context: Context, value: Any) -> Any:
    """The right side of a comparison."""
    if isinstance(value, str):
        context.parent[WORK].add(len(value) // 64)
    return value


def _default(value: Any, default_value: Any = "", boolean: Any = True) -> Any:  # noqa: ARG001
    # An empty text always counts as not given.
    return default_value if isinstance(value, Undefined) or value == "" else value


@pass_context
def _upper(context: Context, value: Any) -> str:
    return _made(context, _text(value).upper(), value)


@pass_context
def _lower(context: Context, value: Any) -> str:
    return _made(context, _text(value).lower(), value)


@pass_context
def _replace(context: Context, value: Any, old: Any, new: Any) -> str:
    text, before, after = _text(value), _text(old), _text(new)
    if not before:
        raise Refusal("`replace` needs a text to replace.")
    context.parent[WORK].add(_search_cost(text, before))
    _fits(len(text) + text.count(before) * (len(after) - len(before)))
    return _made(context, text.replace(before, after), value, new)


@pass_context
def _truncate(
    context: Context,
    value: Any,
    length: Any = 255,
    killwords: Any = False,
    end: Any = "...",
    leeway: Any = 5,
) -> str:
    text, end = _text(value), _text(end)
    if not (isinstance(length, int) and isinstance(leeway, int)) or length < len(end) or leeway < 0:
        raise Refusal("`truncate` needs a length that is at least that of its end.")
    context.parent[WORK].add(len(text))
    if len(text) > length + leeway:
        text = text[: length - len(end)]
        text = (text if killwords else text.rsplit(" ", 1)[0]) + end
    return _made(context, text, value, end)


@pass_context
def _int(context: Context, value: Any, default: int = 0) -> int:
    text = _text(value)
    if isinstance(value, NamedText) and value.secret:
        raise Refusal("A secret cannot be a number: it would be shown.")
    context.parent[WORK].add(len(text))
    return int(text) if _WHOLE.fullmatch(text) else default


@pass_context
def _join(context: Context, value: Any, between: Any = "", attribute: str | None = None) -> str:
    parts = list(_list(value))
    context.parent[WORK].add(8 * len(parts))
    if attribute is not None:
        parts = [context.environment.getitem(part, attribute) for part in parts]
    texts, separator = [_text(part) for part in parts], _text(between)
    _fits(sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0))
    return _made(context, separator.join(texts), *parts, between)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else len(_text(value))


def _element(index: int) -> Callable[[Any], Any]:
    def element(value: Any) -> Any:
        elements = value if isinstance(value, str) else _list(value)
        if not elements:
            raise Refusal("The list has no elements.")
        taken = elements[index]
        if isinstance(value, NamedText):
            return NamedText(taken, value.name, value.secret)
        return taken

    return element


FILTERS: dict[str, Callable[..., Any]] = {
    "default": _default,
    "upper": _upper,
    "lower": _lower,
    "replace": _replace,
    "truncate": _truncate,
    "int": _int,
    "join": _join,
    "length": _length,
    "first": _element(0),
    "last": _element(-1),
}
ARGUMENTS = {
    name: Signature(
        [one for one in signature(filtered).parameters.values()
         if one.name not in {"context", "value"}]
    )
    for name, filtered in FILTERS.items()
}  # fmt: skip
"""What a template may write in the parentheses of a filter."""
OF_THE_TREE = {
    "each": each,
    "concatenated": concatenated,
    "searched": searched,
    "compared": compared,
}
"""Filters that replace parts of the syntax tree; a template cannot name them."""
