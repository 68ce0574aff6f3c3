"""Reading from PostgreSQL, outside of a transaction.

Concurrent queries for one row are sent together. PostgreSQL executes one in a few microseconds;
sending it and receiving the response costs many times as much, and wakes a process on both sides.
Queries that wait for the same statement are sent as one statement, joined with the list of their
parameters: the higher the load, the cheaper a query. No result is older than its query.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import asyncpg
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import asyncpg as dialect

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Compiler, Statement
from phoneprov_core.kernel.errors import Unavailable

MOST = 100
"""Maximum number of queries sent together."""

LANES = 2
"""Maximum number of such lists in progress per statement; further queries wait for the end of
one."""

compiled_for = Compiler(dialect.dialect(paramstyle="numeric_dollar"))  # type: ignore[no-untyped-call]

Ask: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

# The dialect's form of a parameter that is text or a whole number.
_PARAMETER = re.compile(r"\$(\d+)::(VARCHAR|BIGINT|INTEGER)")
_ARRAYS = {"VARCHAR": "text[]", "BIGINT": "bigint[]", "INTEGER": "bigint[]"}


@cache
def for_many(sql: str) -> str | None:
    """The statement that executes a one-row query many times at once. Each parameter is an array,
    and each row begins with the position of its query, counted from 1. None for a statement that
    does not support it: without parameters, with other types than text and whole numbers, or with a
    LIMIT."""
    types = {int(number): type_ for number, type_ in _PARAMETER.findall(sql)}
    others = re.search(r"\$\d", _PARAMETER.sub("", sql))
    if not types or others or not sql.startswith("SELECT") or "LIMIT" in sql:
        return None
    arrays = ", ".join(f"${number}::{_ARRAYS[types[number]]}" for number in sorted(types))
    names = ", ".join(f"p{number}" for number in sorted(types))
    one = _PARAMETER.sub(r"asked.p\1::\2", sql)
    # OFFSET 0 keeps the planner from merging the subquery: each row is found as by the single
    # query.
    return (
        f"SELECT asked.place, answer.* FROM unnest({arrays}) WITH ORDINALITY"  # noqa: S608 - ours
        f" AS asked({names}, place), LATERAL ({one} OFFSET 0) AS answer"
    )


class ReadConnection(Connection):
    """``ask`` executes one query with a deadline of its own. ``wait`` is the maximum waiting time
    of a query in seconds while earlier ones fail."""

    writing = False
    insert = staticmethod(postgresql.insert)

    def __init__(self, ask: Ask, wait: float) -> None:
        self._ask = ask
        self._together = _Together(ask, wait)

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return await self._ask(compiled.sql, compiled.parameters(values))

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        compiled = compiled_for(statement)
        parameters = compiled.parameters(values)
        if for_many(compiled.sql) is not None:
            return await self._together.row(compiled.sql, parameters)
        return _first(await self._ask(compiled.sql, parameters))

    async def one_at_a_time(self) -> None:
        """Nothing to roll back: reads hold no state."""


class _Question(NamedTuple):
    parameters: Sequence[Any]
    answer: asyncio.Future[Row | None]
    asked_at: float


class _Together:
    """Waiting queries, by statement."""

    def __init__(self, ask: Ask, wait: float) -> None:
        self._ask = ask
        self._wait = wait
        self._waiting: dict[str, list[_Question]] = {}
        self._lanes: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def row(self, sql: str, parameters: Sequence[Any]) -> Row | None:
        """The first row. Raises ``Unavailable``."""
        loop = asyncio.get_running_loop()
        question = _Question(parameters, loop.create_future(), loop.time())
        waiting = self._waiting.setdefault(sql, [])
        if not waiting:
            # At the end of this turn of the loop, when all its queries have been added.
            loop.call_soon(self._go, sql)
        waiting.append(question)
        return await question.answer

    def _go(self, sql: str) -> None:
        while self._waiting[sql] and self._lanes.get(sql, 0) < LANES:
            self._lanes[sql] = self._lanes.get(sql, 0) + 1
            waiting = self._waiting[sql]
            together, self._waiting[sql] = waiting[:MOST], waiting[MOST:]
            task = asyncio.get_running_loop().create_task(self._answer(sql, together))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, sql: str, together: list[_Question]) -> None:
        try:
            await self._answer_all(sql, together)
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            for question in together:
                _tell(question, _another(error))
            self._refuse_who_waited(sql)
        finally:
            self._lanes[sql] -= 1
            self._go(sql)

    async def _answer_all(self, sql: str, questions: list[_Question]) -> None:
        """Raises the error that prevents the database from executing any of them."""
        questions = [question for question in questions if not question.answer.done()]
        if not questions:
            return  # All of them were cancelled.
        try:
            rows = await self._found(sql, questions)
        except Exception as error:
            if not _may_be_of_one(error):
                raise
            if len(questions) == 1:
                _tell(questions[0], error)
                return
            half = len(questions) // 2
            await self._answer_all(sql, questions[:half])
            await self._answer_all(sql, questions[half:])
            return
        for question, row in zip(questions, rows, strict=True):
            if not question.answer.done():
                question.answer.set_result(row)

    def _refuse_who_waited(self, sql: str) -> None:
        """Queued queries are tried again, but not after they have waited for too long."""
        latest = asyncio.get_running_loop().time() - self._wait
        patient = []
        for question in self._waiting[sql]:
            if question.asked_at > latest:
                patient.append(question)
            else:
                _tell(question, Unavailable("The database is busy; try again."))
        self._waiting[sql] = patient

    async def _found(self, sql: str, questions: Sequence[_Question]) -> Iterable[Row | None]:
        if len(questions) == 1:
            return [_first(await self._ask(sql, questions[0].parameters))]
        many = for_many(sql)
        assert many is not None
        columns = zip(*(question.parameters for question in questions), strict=True)
        found: list[Row | None] = [None] * len(questions)
        for row in await self._ask(many, [list(column) for column in columns]):
            if found[row[0] - 1] is None:
                found[row[0] - 1] = row[1:]
        return found


def _tell(question: _Question, error: Exception) -> None:
    if not question.answer.done():
        question.answer.set_exception(error)


def _first(rows: Sequence[Row]) -> Row | None:
    return rows[0] if rows else None


def _may_be_of_one(error: Exception) -> bool:
    """Whether the error is caused by the parameters of one query, and not by the database."""
    cause = error.__cause__
    if isinstance(cause, asyncpg.PostgresError):
        return (cause.sqlstate or "").startswith("22")
    return not isinstance(error, Unavailable)


def _another(error: Exception) -> Exception:
    """A copy of the error for another caller, without the first caller's traceback."""
    if isinstance(error, Unavailable):
        return Unavailable(error.message, code=error.code)
    return error
