"""Reading from PostgreSQL, outside of a transaction.

Concurrent queries for one row are sent together. PostgreSQL executes one in a few microseconds;
sending it and receiving the response costs many times as much, and wakes a process on both sides.
Queries that wait for the same statement are sent as one statement, joined with the list of their
parameters: the higher the load, the cheaper a query. No result is older than its query.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

import asyncpg
from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Select,
    Text,
    bindparam,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import asyncpg as dialect
from sqlalchemy.sql import visitors
from sqlalchemy.types import TypeEngine

from phoneprov_adapters.sql.engines.connection import Connection, Row, first
from phoneprov_adapters.sql.engines.statements import Compiler, Statement
from phoneprov_core.kernel.errors import Unavailable

MOST = 100
"""Maximum number of queries sent together."""

LANES = 2
"""Maximum number of such lists in progress per statement; further queries wait for the end of
one."""

compiled_for = Compiler(dialect.dialect(paramstyle="numeric_dollar"))  # type: ignore[no-untyped-call]

Ask: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

# A length would cut a longer value.
_TYPES: dict[type, TypeEngine[Any]] = {str: Text(), int: BigInteger()}


@cache
def for_many(statement: Statement) -> Select[Any] | None:
    """The statement that executes a one-row query many times at once. Each parameter is an array,
    and each row begins with the position of its query, counted from 1. None for a statement that
    does not support it: without parameters, with other types than text and whole numbers, or with a
    LIMIT."""
    if not isinstance(statement, Select) or "LIMIT" in compiled_for(statement).sql:
        return None
    types = {
        element.key: _TYPES.get(element.type.python_type)
        for element in visitors.iterate(statement)
        if isinstance(element, BindParameter) and element.required
    }
    if not types or None in types.values():
        return None
    arrays = (bindparam(name, type_=ARRAY(type_)) for name, type_ in types.items() if type_)
    columns = (column(name, type_) for name, type_ in types.items())
    asked = func.unnest(*arrays).table_valued(*columns, with_ordinality="place")
    asked = asked.render_derived("asked")

    def of_query(element: Any, **_: Any) -> Any:
        is_asked = isinstance(element, BindParameter) and element.required
        return asked.c[element.key] if is_asked else None

    one = cast("Select[Any]", visitors.replacement_traverse(statement, {}, of_query))
    # OFFSET 0 keeps the planner from merging the subquery: each row is found as by the single
    # query.
    answer = one.offset(literal_column("0")).lateral("answer")
    return select(asked.c.place, *answer.c).select_from(asked.join(answer, true()))


class PostgresReadConnection(Connection):
    """``ask`` executes one query with a deadline of its own. ``wait`` is the maximum waiting time
    of a query in seconds while earlier ones fail."""

    def __init__(self, ask: Ask, wait: float) -> None:
        self._ask = ask
        self._together = _Together(ask, wait)

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return await self._ask(compiled.sql, compiled.parameters(values))

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        if for_many(statement) is not None:
            return await self._together.row(statement, values)
        return first(await self.rows(statement, **values))


class _Question(NamedTuple):
    values: Mapping[str, Any]
    answer: asyncio.Future[Row | None]
    asked_at: float


class _Together:
    """Waiting queries, by statement."""

    def __init__(self, ask: Ask, wait: float) -> None:
        self._ask = ask
        self._wait = wait
        self._waiting: defaultdict[Statement, list[_Question]] = defaultdict(list)
        self._lanes: Counter[Statement] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    async def row(self, statement: Statement, values: Mapping[str, Any]) -> Row | None:
        """The first row. Raises ``Unavailable``."""
        loop = asyncio.get_running_loop()
        question = _Question(values, loop.create_future(), loop.time())
        waiting = self._waiting[statement]
        if not waiting:
            # At the end of this turn of the loop, when all its queries have been added.
            loop.call_soon(self._go, statement)
        waiting.append(question)
        return await question.answer

    def _go(self, statement: Statement) -> None:
        while self._waiting[statement] and self._lanes[statement] < LANES:
            self._lanes[statement] += 1
            waiting = self._waiting[statement]
            together, self._waiting[statement] = waiting[:MOST], waiting[MOST:]
            task = asyncio.get_running_loop().create_task(self._answer(statement, together))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, statement: Statement, together: list[_Question]) -> None:
        try:
            await self._answer_all(statement, together)
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            for question in together:
                _fail(question, _copied(error))
            self._refuse_overdue(statement)
        finally:
            self._lanes[statement] -= 1
            self._go(statement)

    async def _answer_all(self, statement: Statement, questions: list[_Question]) -> None:
        """Raises the error that prevents the database from executing any of them."""
        questions = [question for question in questions if not question.answer.done()]
        if not questions:
            return  # All of them were cancelled.
        try:
            rows = await self._found(statement, questions)
        except Exception as error:
            if not _may_be_of_one(error):
                raise
            if len(questions) == 1:
                _fail(questions[0], error)
                return
            half = len(questions) // 2
            await self._answer_all(statement, questions[:half])
            await self._answer_all(statement, questions[half:])
            return
        for question, row in zip(questions, rows, strict=True):
            if not question.answer.done():
                question.answer.set_result(row)

    def _refuse_overdue(self, statement: Statement) -> None:
        """Queued queries are tried again, but not after they have waited for too long."""
        latest = asyncio.get_running_loop().time() - self._wait
        waiting = self._waiting[statement]
        for question in waiting:
            if question.asked_at <= latest:
                _fail(question, Unavailable("The database is busy; try again."))
        self._waiting[statement] = [one for one in waiting if not one.answer.done()]

    async def _found(
        self, statement: Statement, questions: Sequence[_Question]
    ) -> Iterable[Row | None]:
        if len(questions) == 1:
            one = compiled_for(statement)
            return [first(await self._ask(one.sql, one.parameters(questions[0].values)))]
        together = for_many(statement)
        assert together is not None
        many = compiled_for(together)
        values = {name: [one.values[name] for one in questions] for name in questions[0].values}
        found: list[Row | None] = [None] * len(questions)
        for row in await self._ask(many.sql, many.parameters(values)):
            if found[row[0] - 1] is None:
                found[row[0] - 1] = row[1:]
        return found


def _fail(question: _Question, error: Exception) -> None:
    if not question.answer.done():
        question.answer.set_exception(error)


def _may_be_of_one(error: Exception) -> bool:
    """Whether the error is caused by the parameters of one query, and not by the database."""
    cause = error.__cause__
    if isinstance(cause, asyncpg.PostgresError):
        return (cause.sqlstate or "").startswith("22")
    return not isinstance(error, Unavailable)


def _copied(error: Exception) -> Exception:
    """A copy of the error for another caller, without the first caller's traceback."""
    if isinstance(error, Unavailable):
        return Unavailable(error.message, code=error.code)
    return error
