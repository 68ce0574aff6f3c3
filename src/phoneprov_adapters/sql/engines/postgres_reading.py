"""The pool of connections to PostgreSQL, and reads that share its connections."""

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from sqlalchemy.sql import visitors
from sqlalchemy.types import TypeEngine

from phoneprov_adapters.sql.engines.connection import Connection, Context, Row, first
from phoneprov_adapters.sql.engines.hosts import Opened
from phoneprov_adapters.sql.engines.postgres_writing import FAILURES, compiled_for
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_core.kernel.errors import Unavailable

SIZE = 10
IDLE_SECONDS = 240.0
_CLOSE_SECONDS = 1.0


class PostgresPool:
    """At most ``SIZE`` connections, opened when needed; the most recently used one is lent first.

    The driver's own pool takes about as long as the query of a read
    (``docs/decisions/database.md``). Acquiring and releasing a free connection does not await
    anything, so a cancellation cannot lose a connection.
    """

    def __init__(self, connect: Callable[[], Awaitable[Opened]], wait_seconds: float) -> None:
        self._connect = connect
        self._wait_seconds = wait_seconds
        self._idle: deque[tuple[Opened, float]] = deque()
        self._lent: dict[Opened, float] = {}
        self._free = asyncio.Semaphore(SIZE)
        self._closed = False

    async def borrow(self) -> Opened:
        """A connection; the server may have closed it without notice. Raises ``Unavailable``."""
        if self._free.locked():
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await self._free.acquire()
            except TimeoutError:
                raise Unavailable("The database is busy; try again.") from None
        else:
            await self._free.acquire()
        try:
            opened = self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise
        self._lent[opened] = time.monotonic()
        return opened

    def _idle_one(self) -> Opened | None:
        while self._idle:
            opened, since = self._idle.pop()
            # Firewalls drop idle connections without notice.
            if not opened.driver.is_closed() and time.monotonic() - since < IDLE_SECONDS:
                return opened
            opened.driver.terminate()
        return None

    def give_back(self, opened: Opened, *, usable: bool) -> None:
        """Release a connection. It is closed unless ``usable``: idle and outside a transaction."""
        del self._lent[opened]
        if usable and not self._closed and not opened.driver.is_closed():
            self._idle.append((opened, time.monotonic()))
        else:
            opened.driver.terminate()
        self._free.release()

    def longest_lent(self) -> tuple[Opened, float] | None:
        """The connection that has been in use for the longest time, and the number of seconds;
        None if no connection is in use."""
        for opened, since in self._lent.items():
            return opened, time.monotonic() - since
        return None

    @property
    def connections(self) -> list[Opened]:
        """All connections, in use or idle."""
        return [*self._lent, *(opened for opened, _ in self._idle)]

    def forget_idle(self) -> None:
        """Close every idle connection: the network or the server has failed."""
        while self._idle:
            self._idle.pop()[0].driver.terminate()

    def forget_all(self) -> None:
        """Close every connection, also those in use: the server must not be used any longer."""
        self.forget_idle()
        for opened in self._lent:
            opened.driver.terminate()

    async def close(self) -> None:
        """Close idle connections. Connections in use are closed when they are released."""
        self._closed = True
        while self._idle:
            opened, _ = self._idle.pop()
            try:
                await opened.driver.close(timeout=_CLOSE_SECONDS)
            except FAILURES:
                opened.driver.terminate()


MOST = 100
"""Maximum number of queries sent together."""

LANES = 2
"""Maximum number of such groups of queries in progress per statement; further queries wait until a
group ends."""

Ask: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

# Without a length: PostgreSQL would cut longer values.
_TYPES: dict[type, TypeEngine[Any]] = {str: Text(), int: BigInteger()}


@cache
def for_many(statement: Statement) -> Select[Any] | None:
    """The statement that executes a one-row query for many sets of parameters at once. Each
    parameter is an array, and each row begins with the position of its query, counted from 1.

    None for an unsupported statement: without parameters, with parameters other than texts and
    whole numbers, or with a LIMIT."""
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
    # OFFSET 0 keeps the planner from merging the subquery: each row is found with the plan of the
    # single query.
    answer = one.offset(literal_column("0")).lateral("answer")
    return select(asked.c.place, *answer.c).select_from(asked.join(answer, true()))


class _Query(NamedTuple):
    values: Mapping[str, Any]
    answer: asyncio.Future[Row | None]

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class PostgresReadConnection(Connection):
    """Runs each query outside a transaction. ``ask`` executes one statement with its own
    deadline."""

    def __init__(self, context: Context, ask: Ask) -> None:
        super().__init__(context)
        self._ask = ask
        self._waiting: defaultdict[Statement, list[_Query]] = defaultdict(list)
        self._lanes: Counter[Statement] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    async def fetch_all(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return await self._ask(compiled.sql, compiled.parameters(values))

    async def fetch_one(self, statement: Statement, **values: Any) -> Row | None:
        if for_many(statement) is None:
            return first(await self.fetch_all(statement, **values))
        loop = asyncio.get_running_loop()
        query = _Query(values, loop.create_future())
        waiting = self._waiting[statement]
        if not waiting:
            # Runs after the tasks that are ready now have added their queries.
            loop.call_soon(self._send, statement)
        waiting.append(query)
        return await query.answer

    def _send(self, statement: Statement) -> None:
        while self._waiting[statement] and self._lanes[statement] < LANES:
            self._lanes[statement] += 1
            waiting = self._waiting[statement]
            together, self._waiting[statement] = waiting[:MOST], waiting[MOST:]
            task = asyncio.get_running_loop().create_task(self._answer(statement, together))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, statement: Statement, queries: list[_Query]) -> None:
        try:
            await self._answer_all(statement, queries)
        except Exception as error:  # noqa: BLE001 - each caller of ``fetch_one`` gets the error
            # Queries that waited meanwhile fail, too: they would meet the same failure.
            for query in (*queries, *self._waiting.pop(statement, ())):
                query.fail(_copied(error))
        finally:
            self._lanes[statement] -= 1
            self._send(statement)

    async def _answer_all(self, statement: Statement, queries: list[_Query]) -> None:
        """Answer all queries. Raises an error of the database, which concerns all of them."""
        queries = [query for query in queries if not query.answer.done()]
        if not queries:
            return  # All of them were cancelled.
        try:
            rows = await self._found(statement, queries)
        except Exception as error:
            if not _is_of_parameters(error):
                raise
            if len(queries) == 1:
                queries[0].fail(error)
                return
            for query in queries:
                await self._answer_all(statement, [query])
            return
        for query, row in zip(queries, rows, strict=True):
            if not query.answer.done():
                query.answer.set_result(row)

    async def _found(self, statement: Statement, queries: list[_Query]) -> list[Row | None]:
        if len(queries) == 1:
            return [first(await self.fetch_all(statement, **queries[0].values))]
        together = for_many(statement)
        assert together is not None
        values = {name: [one.values[name] for one in queries] for name in queries[0].values}
        found: list[Row | None] = [None] * len(queries)
        for row in await self.fetch_all(together, **values):
            if found[row[0] - 1] is None:
                found[row[0] - 1] = row[1:]
        return found


def _is_of_parameters(error: Exception) -> bool:
    """Whether the parameters of one query may have caused the error, and not the database."""
    cause = error.__cause__
    if isinstance(cause, asyncpg.PostgresError):
        return (cause.sqlstate or "").startswith("22")
    return not isinstance(error, Unavailable)


def _copied(error: Exception) -> Exception:
    """A copy of the error for another caller, without the first caller's traceback."""
    if isinstance(error, Unavailable):
        return type(error)(error.message, code=error.code)
    return error
