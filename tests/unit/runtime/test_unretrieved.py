"""A failure that no task awaits any more is not reported by asyncio as one that was never
retrieved: of a call that is cancelled in the moment in which it fails, and of work beside other
work that failed first."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from phoneprov_adapters.asterisk.session import Session
from phoneprov_adapters.runtime.tasks import OwnedTasks
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_core.kernel.errors import PhoneprovError, Refused, Unavailable
from support.floor import Floor
from support.switching import Desk

TURNS = 12
"""More turns of the loop than a new connection takes."""


@pytest.fixture
async def reports() -> AsyncIterator[list[str]]:
    """What asyncio reported of futures and tasks."""
    loop, found = asyncio.get_running_loop(), list[str]()
    loop.set_exception_handler(lambda _, context: found.append(context["message"]))
    yield found
    loop.set_exception_handler(None)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0.001)
        gc.collect()


async def cancelled(call: Awaitable[Any], fail: Callable[[], object], turns: int = 5) -> None:
    """Cancel a call in the turn of the loop in which what it awaits fails."""
    task = asyncio.ensure_future(call)
    for _ in range(turns):
        await asyncio.sleep(0)
    fail()
    task.cancel()
    with suppress(asyncio.CancelledError, PhoneprovError):
        await task


async def test_harness_sees_a_future_that_is_not_retrieved(reports: list[str]) -> None:
    future = asyncio.get_running_loop().create_future()
    future.set_exception(Unavailable())
    del future
    await settled()

    assert reports == ["Future exception was never retrieved"]


class _Messages:
    """The end of a connection, when ``ended`` is set."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def next(self) -> Any:
        await self.ended.wait()
        raise ConnectionResetError


class _Writer:
    def __init__(self) -> None:
        self.transport = self

    def abort(self) -> None:
        """Nothing is open."""

    def write(self, _content: bytes) -> None:
        """Nothing is sent."""


@pytest.mark.parametrize("what", ["action", "ping"])
async def test_action_whose_connection_ends_as_its_caller_is_cancelled_is_retrieved(
    reports: list[str], what: str
) -> None:
    async def asked() -> None:
        messages = _Messages()
        session = Session(messages, _Writer())  # type: ignore[arg-type]

        def end() -> None:
            messages.ended.set()
            assert len(session._pending) == 1
            for pending in session._pending:
                pending.answer.set_exception(Unavailable())

        await cancelled(session.ping() if what == "ping" else session.ask("Restart"), end)
        session._reading.cancel()

    await asked()
    await settled()

    assert reports == []


async def test_connect_that_is_cancelled_at_any_turn_of_the_loop_is_retrieved(
    reports: list[str],
) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"postgresql+asyncpg://ada:secret@127.0.0.1:{port}/office"
        box: Any = None
        for turn in range(TURNS):
            await cancelled(PostgresDatabase(url, box)._connect(), lambda: None, turn)
        await settled()

    assert reports == []


async def test_owned_work_that_fails_after_its_caller_was_cancelled_is_retrieved(
    reports: list[str],
) -> None:
    tasks, late = OwnedTasks(), asyncio.Event()

    async def fail_later() -> None:
        await late.wait()
        raise Unavailable

    await cancelled(tasks.run(fail_later()), lambda: None)
    late.set()
    await tasks.drain(1)
    del tasks
    await settled()

    assert reports == []


async def test_phones_of_a_batch_that_all_fail_at_once_are_retrieved(reports: list[str]) -> None:
    floor = await Floor.of()
    floor.at("upload", floor.database.close)
    await floor.begin(at_once=4)
    with suppress(Unavailable):
        await floor.background.done()
    del floor
    await settled()

    assert reports == []


async def test_end_of_a_switch_that_is_cancelled_and_never_stored_is_retrieved(
    reports: list[str],
) -> None:
    desk = await Desk.of()

    async def fail() -> None:
        await desk.database.close()
        raise Refused("The FTP server refused it.")

    desk.at("upload", fail)
    for turn in range(40):
        await cancelled(desk.switched(), lambda: None, turn)
        await desk.database.open()
        desk.clock.advance(61)
    await desk.database.close()
    await settled()

    assert reports == []
