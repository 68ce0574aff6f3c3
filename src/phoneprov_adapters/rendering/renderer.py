"""The renderer: Jinja2's sandbox, with no globals, no attributes of Python, and bounded filters."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.environment import Template
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import SandboxedEnvironment

from phoneprov_adapters.rendering.allowlist import Rejection, objections
from phoneprov_adapters.rendering.positions import PlacedLexer, Positions
from phoneprov_adapters.rendering.texts import (
    FILTERS,
    OF_THE_TREE,
    WORK,
    Exhausted,
    Missing,
    NamedText,
    Refusal,
    Work,
    output_text,
)
from phoneprov_core.features.templates.model import LISTS, LOOP, MOST_ELEMENTS, MOST_WORK, VALUES
from phoneprov_core.features.templates.use_cases import Renderer, TemplateFault, TemplateValues
from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.switching.deployments.ports import Rendered, UsedLine, ValuePlace

SMALL = 16 * 1024
"""Characters of a body that is read on the event loop: at most about 20 ms, and once."""
SHORT_WORK = MOST_WORK // 50
"""Cost of a rendering on the event loop: at most about 10 ms. A costlier one begins again in a
thread."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LARGEST_NUMBER = 2**31
_LONGEST_MESSAGE = 300


class _Environment(SandboxedEnvironment):
    """Fields of given objects are items of plain dictionaries; nothing else has any."""

    intercepted_binops = frozenset({"+", "-"})

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            autoescape=True,
            finalize=output_text,
            keep_trailing_newline=True,
            cache_size=0,
            optimized=False,
        )
        self.globals = {}
        self.filters = {**FILTERS, **OF_THE_TREE}
        self.tests = {"defined": self.tests["defined"]}
        self._lexer = PlacedLexer(self)

    @property
    def lexer(self) -> PlacedLexer:
        return self._lexer

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and attribute in LOOP:
            return getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            return obj
        if isinstance(obj, _Object):
            if argument in obj:
                obj.read.add(argument)
                return obj[argument]
            return self.undefined(f"{obj.name}.{argument} is not given.")
        if isinstance(obj, list) and isinstance(argument, int):
            if -len(obj) <= argument < len(obj):
                return obj[argument]
            return self.undefined(f"The list has no element {argument}.")
        return self.undefined(f"{argument} is not given.")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        for value in (left, right):
            if isinstance(value, bool) or not isinstance(value, int):
                raise Refusal(f"`{operator}` takes whole numbers; texts are joined with `~`.")
        result = left + right if operator == "+" else left - right
        if not -_LARGEST_NUMBER < result < _LARGEST_NUMBER:
            raise Refusal("A number is too large.")
        return result


class _Object(dict[str, Any]):
    """An object that templates can read; ``name`` is its name in messages, ``read`` the fields that
    were read."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self.name = name
        self.read: set[Any] = set()


_ENVIRONMENT = _Environment()


class _Bad(Exception):
    def __init__(self, found: list[Rejection]) -> None:
        super().__init__(found[0].message)
        self.found = found


class _Ready(NamedTuple):
    """A body that is compiled."""

    template: Template
    source: str


def _tree(body: str) -> nodes.Template:
    """The syntax tree of a body. Raises ``_Bad``."""
    if (control := _CONTROL.search(body)) is not None:
        message = "The template contains a control character."
        raise _Bad([Rejection(control.start() + 1, "control_character", message)])
    if len(body) > LARGEST:
        raise _Bad([Rejection(1, "too_large", f"The template has more than {LARGEST} characters.")])
    try:
        tree = _ENVIRONMENT.parse(body)
    except TemplateSyntaxError as error:
        message = str(error.message).rstrip(".")
        raise _Bad(
            [Rejection(error.lineno, "syntax", f"{message[:1].upper()}{message[1:]}.")]
        ) from None
    except (RecursionError, ValueError, MemoryError):
        raise _Bad([Rejection(1, "too_complex", "The template is nested too deeply.")]) from None
    found = objections(tree)
    if found:
        raise _Bad(found)
    return tree


class _Bounded:
    """Replaces the parts of a tree whose cost depends on the input."""

    def __call__(self, node: nodes.Node) -> nodes.Node:
        for name, value in list(node.iter_fields()):
            if isinstance(value, list):
                setattr(
                    node, name, [self(one) if isinstance(one, nodes.Node) else one for one in value]
                )
            elif isinstance(value, nodes.Node):
                setattr(node, name, self(value))
        if isinstance(node, nodes.Output):
            for shown_node in node.nodes:  # an error is where the expression begins
                places = [one.lineno for one in shown_node.find_all(nodes.Node) if one.lineno]
                shown_node.lineno = min([shown_node.lineno, *places])
        elif isinstance(node, nodes.For):
            weight = 1 + sum(1 for _ in node.find_all(nodes.Node))
            node.iter = _filtered(node.iter, "each", [nodes.Const(weight, lineno=node.lineno)])
        elif isinstance(node, nodes.Concat):
            return _filtered(node.nodes[0], "concatenated", node.nodes[1:])
        elif isinstance(node, nodes.Operand):
            name = "searched" if node.op in {"in", "notin"} else "compared"
            node.expr = _filtered(node.expr, name, [])
        return node


def _filtered(node: Any, name: str, arguments: list[nodes.Expr]) -> nodes.Expr:
    return nodes.Filter(node, name, arguments, [], None, None, lineno=node.lineno)


@lru_cache(maxsize=64)
def _ready(body: str) -> _Ready:
    """Compiled once for each body. Raises ``_Bad``."""
    tree = _tree(body)
    _Bounded()(tree)
    tree.set_environment(_ENVIRONMENT)
    try:
        code: Any = _ENVIRONMENT.compile(tree, name="template", filename="<template>")
    except (RecursionError, MemoryError, SyntaxError):
        raise _Bad([Rejection(1, "too_complex", "The template is nested too deeply.")]) from None
    assert isinstance(code, CodeType)
    return _Ready(Template.from_code(_ENVIRONMENT, code, {}, None), body)


class JinjaRenderer(Renderer):
    """See ``phoneprov_core.features.templates.model``."""

    async def check(self, body: str) -> tuple[Finding, ...]:
        if len(body) > SMALL:
            return await asyncio.to_thread(check, body)
        return check(body)

    async def render(self, body: str, given: TemplateValues, largest: int) -> Rendered:
        if len(body) <= SMALL:
            with suppress(Exhausted):
                return render(body, given, largest, SHORT_WORK)
        return await asyncio.to_thread(render, body, given, largest)


def check(body: str) -> tuple[Finding, ...]:
    """See ``Renderer.check``."""
    try:
        _ready(body)
    except _Bad as bad:
        positions = Positions(body)
        return tuple(
            Finding(Severity.ERROR, *positions.of(place), code, _short(message))
            for place, code, message in bad.found[:200]
        )
    return ()


def render(body: str, given: TemplateValues, largest: int, most_work: int = MOST_WORK) -> Rendered:
    """See ``Renderer.render``. Raises ``Exhausted`` if ``most_work`` is less than the bound, and
    does not suffice."""
    try:
        ready = _ready(body)
    except _Bad as bad:
        place, _, message = bad.found[0]
        raise TemplateFault(*Positions(body).of(place), _short(message)) from None
    work = Work(most_work)
    pieces: list[str] = []
    marks: list[ValuePlace] = []
    size = 0
    try:
        names = _names(given)
        context = ready.template.new_context({**names, WORK: work})
        for piece in ready.template.root_render_func(context):
            content = len(piece) if piece.isascii() else len(piece.encode())
            if len(marks) < len(work.outputs):
                name, secret = work.outputs[len(marks)]
                marks.append(ValuePlace(size, size + content, name, secret))
            size += content
            if size > largest:
                raise Refusal(f"The rendered text has more than {largest} bytes.")
            pieces.append(piece)
    except (Refusal, TemplateError, TypeError, ValueError, UnicodeError) as error:
        if isinstance(error, Exhausted) and most_work < MOST_WORK:
            raise
        line, column = Positions(body).of(_place_of(error, ready))
        raise TemplateFault(line, column, _short(_reason(error))) from None
    used = tuple(_used(line) for line in names["lines"] if line.read & _OF_A_LINE)
    return Rendered("".join(pieces), tuple(mark for mark in marks if mark.name), used)


_OF_A_LINE = {"number", "name", "password"}
"""The fields that tell one line from another."""


def _used(line: _Object) -> UsedLine:
    password = str(line["password"]) if "password" in line.read else None
    return UsedLine(str(line["number"]), password)


def _short(message: str) -> str:
    """A name of the template in a message may be as long as the template."""
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}..."


def _reason(error: Exception) -> str:
    if isinstance(error, (Refusal, TemplateError)):
        text = str(error.message if isinstance(error, TemplateError) else error)
        return text if text.endswith(".") else f"{text}."
    return "These values cannot be compared or used together."


def _place_of(error: Exception, ready: _Ready) -> int:
    place, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            place = ready.template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return place


def _names(given: TemplateValues) -> dict[str, Any]:
    names: dict[str, Any] = {
        name: _Object(
            name, {field: NamedText(text, f"{name}.{field}") for field, text in fields.items()}
        )
        for name, fields in given.objects.items()
    }
    names[VALUES] = _Object(
        VALUES,
        {
            field: NamedText(text, f"{VALUES}.{field}", field in given.secret)
            for field, text in given.values.items()
        },
    )
    for name in LISTS:
        elements = given.lists.get(name, ())
        if len(elements) > MOST_ELEMENTS:
            raise Refusal(f"{name} has more than {MOST_ELEMENTS} elements.")
        names[name] = [_element(name, element) for element in elements]
    return names


def _element(name: str, fields: Mapping[str, str | bool]) -> _Object:
    return _Object(
        name,
        {
            field: value
            if isinstance(value, bool)
            else NamedText(value, f"{name}.{field}", field == "password")
            for field, value in fields.items()
        },
    )
