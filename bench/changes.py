"""The changes of the source that ``bench.mutations`` knows, and how often a file is drawn."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

WEIGHTS = {
    "phoneprov_core/kernel": 3,
    "phoneprov_core": 4,
    "phoneprov_adapters/security": 6,
    "phoneprov_adapters/testing": 0,
    "phoneprov_adapters/simulator": 0,
    "phoneprov_adapters/memory": 0,
    "phoneprov_adapters/sql/migrations": 0,
    "phoneprov_adapters": 3,
    "phoneprov_http/front": 4,
    "phoneprov_http/main": 1,
    "phoneprov_http": 2,
}
OTHER: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Change(NamedTuple):
    """A place, what stands there, and what it becomes."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str


def changes_of(path: str, source: str) -> Iterator[Change]:
    """Every change of a file that is known here."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    content = source.encode()
    for node in ast.walk(ast.parse(source)):
        for place, after in _changed(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
            before = content[start:end].decode()
            yield Change(path, place.lineno, start, end, before, after)


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.Raise):
        yield node, "pass"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
        if not ast.unparse(node).startswith(("log.", "super().")):
            yield node, "pass"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = OTHER[type(node.ops[0])]()
        yield node, f"({ast.unparse(ast.Compare(node.left, [other], node.comparators))})"
    elif isinstance(node, ast.BoolOp):
        yield node, f"({ast.unparse(ast.BoolOp(OTHER[type(node.op)](), node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"(bool({ast.unparse(node.operand)}))"
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
        if isinstance(node.value.value, bool):
            yield node.value, str(not node.value.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        yield node, str(node.value + 1)


def weight_of(path: str) -> int:
    """How often places of this file are drawn."""
    return next(
        (
            weight
            for start, weight in WEIGHTS.items()
            if path.startswith((f"src/{start}/", f"src/{start}."))
        ),
        1,
    )
