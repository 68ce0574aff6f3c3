"""The allowlist over the syntax tree of a template: the parts of the language, and the names it
offers."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from jinja2 import nodes

from phoneprov_adapters.rendering.texts import ARGUMENTS
from phoneprov_core.features.templates.model import (
    DEEPEST_LOOP,
    DEEPEST_NODE,
    FILTERS,
    LISTS,
    LONGEST_TEXT,
    LOOP,
    MOST_NODES,
    OBJECTS,
    VALUES,
)

_WORDS: dict[type[nodes.Node], str] = {
    nodes.Call: "A call",
    nodes.Include: "`include`",
    nodes.Import: "`import`",
    nodes.FromImport: "`from ... import`",
    nodes.Extends: "`extends`",
    nodes.Block: "`block`",
    nodes.Macro: "`macro`",
    nodes.CallBlock: "`call`",
    nodes.FilterBlock: "A `filter` block",
    nodes.AssignBlock: "A `set` block",
    nodes.With: "`with`",
    nodes.ScopedEvalContextModifier: "`autoescape`",
    nodes.Mul: "`*`",
    nodes.Div: "`/`",
    nodes.FloorDiv: "`//`",
    nodes.Mod: "`%`",
    nodes.Pow: "`**`",
    nodes.Neg: "`-` before a value",
    nodes.Pos: "`+` before a value",
    nodes.Slice: "A slice",
    nodes.Dict: "An object",
    nodes.Tuple: "A tuple",
    nodes.List: "A list outside of `in`",
    nodes.NSRef: "An assignment to a field",
}
_PLAIN = (
    nodes.Template, nodes.Output, nodes.And, nodes.Or, nodes.Not,
    nodes.Add, nodes.Sub, nodes.Concat,
    nodes.Scope,  # contains the node of its tag, which has the place
)  # fmt: skip
# Smarty and FusionPBX, shells and Ruby, the names of files; ERB, ASP and JSP; PHP.
_FOREIGN = re.compile(
    r"\{\$[^{}\s]{1,64}[^{}\n]{0,64}\}|[$#]\{[^{}\n]{1,64}\}|\{(?:mac|MAC)\}|<%|<\?(?:php\b|=|(?=\s))",
    re.IGNORECASE,
)
_OF_LISTS = ("length", "first", "last", "join")
_LARGEST = 2**31

Kinds = Mapping[str, str]
"""Names that are assigned: the given list for an element of one, ``loop``, or empty for a text."""


class Rejection(NamedTuple):
    """What is wrong with a template, and the place."""

    place: int
    code: str
    message: str


def objections(tree: nodes.Template) -> list[Rejection]:
    """What a syntax tree has that is not part of the language, in the order of the text."""
    too_complex = _too_complex(tree)
    if too_complex:
        return [too_complex]
    assigned = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "store"} - set(
        _element_names(tree)
    )
    found = list(_Walk(assigned).children(tree, {}, 0))
    return sorted(set(found))


def _element_names(tree: nodes.Template) -> Iterator[str]:
    for loop in tree.find_all(nodes.For):
        if isinstance(loop.target, nodes.Name):
            yield loop.target.name


def _too_complex(tree: nodes.Template) -> Rejection | None:
    """Counts without recursion: the tree may be as deep as its text is long."""
    count, level, depth = 0, [tree], 0
    here: list[nodes.Node] = [*level]
    while here:
        count += len(here)
        depth += 1
        if count > MOST_NODES or depth > DEEPEST_NODE:
            what = f"has more than {MOST_NODES} parts" if count > MOST_NODES else "is too deep"
            return Rejection(here[0].lineno or 1, "too_complex", f"The template {what}.")
        here = [child for node in here for child in node.iter_child_nodes()]
    return None


class _Walk:
    def __init__(self, assigned: set[str]) -> None:
        self._assigned = assigned

    def children(self, node: nodes.Node, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        for child in node.iter_child_nodes():
            yield from self.of(child, kinds, loops)

    def of(self, node: nodes.Node, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        """The objections to a node and what it contains."""
        if isinstance(node, nodes.For):
            yield from self._loop(node, kinds, loops)
        elif isinstance(node, nodes.Name):
            yield from self._name(node, kinds)
        elif isinstance(node, nodes.TemplateData):
            yield from _foreign(node)
        elif isinstance(node, nodes.Const):
            yield from _constant(node)
        elif isinstance(node, nodes.Filter):
            yield from self._filter(node, kinds, loops)
        elif isinstance(node, (nodes.Getattr, nodes.Getitem)):
            yield from self._field(node, kinds, loops)
        elif isinstance(node, nodes.Assign):
            yield from self._assignment(node)
            yield from self.of(node.node, kinds, loops)
        elif isinstance(node, nodes.Test):
            if node.name != "defined" or node.args or node.kwargs:
                yield _refused(node, f"The test `{node.name}`")
            yield from self.of(node.node, kinds, loops)
        elif isinstance(node, nodes.Compare):
            yield from self._comparison(node, kinds, loops)
        elif isinstance(node, (nodes.If, nodes.CondExpr)):
            yield from self._condition(node.test, kinds, loops)
            for child in node.iter_child_nodes(exclude=("test",)):
                yield from self.of(child, kinds, loops)
        elif isinstance(node, _PLAIN):
            yield from self.children(node, kinds, loops)
        else:
            yield _refused(node, _WORDS.get(type(node), f"`{type(node).__name__}`"))

    def _condition(self, test: nodes.Node, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        """A condition may be a list: whether it has elements."""
        inner = test.node if isinstance(test, nodes.Not) else test
        if not (isinstance(inner, nodes.Name) and inner.name in LISTS):
            yield from self.of(test, kinds, loops)

    def _loop(self, node: nodes.For, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        if loops == DEEPEST_LOOP:
            yield _refused(node, f"A `for` inside of {DEEPEST_LOOP} others")
        if node.recursive:
            yield _refused(node, "A recursive `for`")
        of = node.iter.name if isinstance(node.iter, nodes.Name) else ""
        if of not in LISTS:
            message = f"`for` runs over {', '.join(LISTS)} only."
            yield Rejection(node.iter.lineno or node.lineno, "not_allowed", message)
            return
        if not isinstance(node.target, nodes.Name):
            yield _refused(node.target, "`for` with several names")
            return
        if node.target.name in self._assigned:
            yield Rejection(node.target.lineno, "not_allowed", _taken(node.target.name))
        else:
            yield from _assigned(node.target)
        inside = {**kinds, node.target.name: of, "loop": "loop"}
        if node.test is not None:
            yield from self.of(node.test, {**kinds, node.target.name: of}, loops)
        for child in node.body:
            yield from self.of(child, inside, loops + 1)
        for child in node.else_:
            yield from self.of(child, kinds, loops)

    def _name(self, node: nodes.Name, kinds: Kinds) -> Iterator[Rejection]:
        name = node.name
        if name in LISTS:
            yield Rejection(node.lineno, "not_allowed", _list(name))
        elif name in OBJECTS or name == VALUES or kinds.get(name):
            message = f"{name} is an object: name one of its fields."
            yield Rejection(node.lineno, "not_allowed", message)
        elif name not in self._assigned:
            yield Rejection(node.lineno, "not_given", f"{name} is not given.")

    def _assignment(self, node: nodes.Assign) -> Iterator[Rejection]:
        if not isinstance(node.target, nodes.Name):
            yield _refused(node.target, "`set` of anything but a name")
        else:
            yield from _assigned(node.target)

    def _filter(self, node: nodes.Filter, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        if node.name not in FILTERS:
            yield _refused(node, f"The filter `{node.name}`")
        if node.node is None or node.dyn_args is not None or node.dyn_kwargs is not None:
            yield _refused(node, "A filter with `*`, or without a value")
            return
        subject = node.node
        if not (
            node.name in _OF_LISTS and isinstance(subject, nodes.Name) and subject.name in LISTS
        ):
            yield from self.of(subject, kinds, loops)
        elif node.name == "join":
            yield from _joined(node, subject.name)
        if node.name in FILTERS and _arguments(node) is None:
            message = f"The arguments of `{node.name}` are not part of the language."
            yield Rejection(node.lineno, "not_allowed", message)
        for argument in (*node.args, *(keyword.value for keyword in node.kwargs)):
            yield from self.of(argument, kinds, loops)

    def _field(
        self, node: nodes.Getattr | nodes.Getitem, kinds: Kinds, loops: int
    ) -> Iterator[Rejection]:
        if isinstance(node, nodes.Getattr):
            field: object = node.attr
        elif isinstance(node.arg, nodes.Const):
            field = node.arg.value
        else:
            yield _refused(node.arg, _WORDS.get(type(node.arg), "An index that is not a constant"))
            return
        of = self._kind_of(node.node, kinds)
        if of is None:
            yield from self.of(node.node, kinds, loops)
            if isinstance(field, str):
                yield _refused(node, f"The field `{field}` of a text")
            return
        owner, fields = of
        if fields == {}:
            if type(field) is not int:
                yield Rejection(node.lineno, "not_allowed", _list(owner))
        elif not isinstance(field, str):
            yield _refused(node, "A number as the index of an object")
        elif fields is not None and field not in fields:
            yield Rejection(node.lineno, "not_given", _not_given(owner, field, fields))

    def _kind_of(
        self, node: nodes.Node, kinds: Kinds
    ) -> tuple[str, Mapping[str, str] | None] | None:
        """The name and the fields of an object, no fields for a list; None for a text. The fields
        of ``values`` are not known (None)."""
        if isinstance(node, nodes.Name):
            name = node.name
            if name == VALUES:
                return name, None
            if name in OBJECTS:
                return name, OBJECTS[name]
            if kinds.get(name):
                return name, LOOP if kinds[name] == "loop" else LISTS[kinds[name]]
            return (name, {}) if name in LISTS else None
        if isinstance(node, nodes.Getitem) and isinstance(node.node, nodes.Name):
            return _element_of(node.node)
        if isinstance(node, nodes.Filter) and node.name in {"first", "last"} and not node.args:
            return _element_of(node.node)
        return None

    def _comparison(self, node: nodes.Compare, kinds: Kinds, loops: int) -> Iterator[Rejection]:
        yield from self.of(node.expr, kinds, loops)
        for operand in node.ops:
            searched = operand.expr
            if operand.op in {"in", "notin"} and isinstance(searched, (nodes.List, nodes.Tuple)):
                for item in searched.items:
                    if isinstance(item, nodes.Const):
                        yield from _constant(item)
                    else:
                        yield _refused(item, "A list with anything but constants")
            else:
                yield from self.of(searched, kinds, loops)


def _arguments(node: nodes.Filter) -> dict[str, nodes.Expr] | None:
    """The arguments of a filter by name; None if it does not take them."""
    named: dict[str, nodes.Expr] = {str(one.key): one.value for one in node.kwargs}
    try:
        found = ARGUMENTS[node.name].bind(*node.args, **named).arguments
    except TypeError:
        return None
    return found if len(named) == len(node.kwargs) else None


def _joined(node: nodes.Filter, of: str) -> Iterator[Rejection]:
    """An attribute that is computed would be shown in errors, and may be a secret."""
    attribute = (_arguments(node) or {}).get("attribute")
    field = attribute.value if isinstance(attribute, nodes.Const) else None
    if field is None:
        message = f"`join` needs the name of a field of {of}: attribute='...'."
        yield Rejection(node.lineno, "not_allowed", message)
    elif field not in LISTS[of]:
        yield Rejection(node.lineno, "not_given", _not_given(of, field, LISTS[of]))


def _not_given(owner: str, field: object, fields: Mapping[str, str]) -> str:
    return f"{owner}.{field} is not given; {owner} has {', '.join(fields)}."


def _element_of(node: nodes.Node | None) -> tuple[str, Mapping[str, str]] | None:
    if isinstance(node, nodes.Name) and node.name in LISTS:
        return node.name, LISTS[node.name]
    return None


def _list(name: str) -> str:
    return f"{name} is a list: use `for`, or a filter."


def _assigned(target: nodes.Name) -> Iterator[Rejection]:
    name = target.name
    normal = unicodedata.normalize("NFKC", name)
    if name != normal:  # Python reads them as one name
        message = f"The name {name} has other characters than letters: write {normal}."
        yield Rejection(target.lineno, "not_allowed", message)
    elif name in OBJECTS or name in LISTS or name in {VALUES, "loop"} or name.startswith("_"):
        yield Rejection(target.lineno, "not_allowed", _taken(name))


def _taken(name: str) -> str:
    return f"{name} cannot be assigned: it has a meaning already."


def _refused(node: nodes.Node, what: str) -> Rejection:
    return Rejection(node.lineno or 1, "not_allowed", f"{what} is not part of the language.")


def _foreign(node: nodes.TemplateData) -> Iterator[Rejection]:
    """Placeholders of other languages: phones would get them as they are."""
    for found in _FOREIGN.finditer(node.data):
        message = (
            f"`{found[0][:32]}` is not of this language and would reach the phone: names are "
            "written as `{{ phone.mac }}`, a text with braces as `{{ '...' }}`."
        )
        yield Rejection(node.lineno + found.start(), "other_language", message)


def _constant(node: nodes.Const) -> Iterator[Rejection]:
    value = node.value
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            message = f"A text has more than {LONGEST_TEXT} characters."
            yield Rejection(node.lineno, "too_complex", message)
    elif not isinstance(value, int) or not -_LARGEST < value < _LARGEST:
        yield _refused(node, "Another constant than a text, true, false or a whole number")
