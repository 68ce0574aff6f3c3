"""The process of a rehearsal: it is sent the records that the batch needs, and answers once."""

import asyncio
import logging
import os
import pickle  # nosec B403
import selectors
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from phoneprov_adapters.security.crypto import Subkeys
from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_adapters.sql.stores.features.rehearsal import place_in
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import MOST_WAIT_MINUTES
from phoneprov_core.features.rehearsal.model import Rehearsal, Stage
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.values import millis, timestamp


class _Jumping(selectors.DefaultSelector):
    """Passes the time until the next timer at once. There is nothing else to wait for: no socket
    is registered, and work for threads is done in the loop."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("the rehearsal waits for something that never happens")
        self.now += max(0.0, timeout)
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    """See above. ``clock`` is its time of the day, ``began`` at the begin."""

    def __init__(self, began: datetime) -> None:
        self._jumping = _Jumping()
        self._began = began
        self._worked = 0.0
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def clock(self) -> datetime:
        """The current moment, cut to milliseconds, as that of the service."""
        return self._began + timedelta(milliseconds=int(self._jumping.now * 1000))

    def begin_work(self) -> None:
        """From now on the work of this process takes time."""
        self._worked = time.process_time()

    def work(self, seconds: float) -> None:
        """Let time pass in which nothing else runs, as while the service works: this long, or as
        long as this process has worked since the last time, if that is longer."""
        now = time.process_time()
        self._jumping.now += max(seconds, now - self._worked)
        self._worked = now

    def run_in_executor(  # type: ignore[override]
        self, _executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """The work, done at once."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as a thread does
            done.set_exception(error)
        return done


SECONDS = 180.0
"""Deadline of a rehearsal, with the wait for the rehearsal before it."""
MODULE = "phoneprov_adapters.composition.twin"
_PIECE = 100
"""Phones whose records are read at a time: other requests are answered in between."""
_NEWEST = 50
"""Deployments of any phone that say how servers and phones behave at present."""

_UNDER_WAY_MS = 5000
"""How long deployments that are under way go on: the twin has no process that ends their leases."""

NOT_DONE = "The batch could not be rehearsed; the batch itself may still be started."
TOO_LATE = "The rehearsal took too long; rehearse a smaller batch, or try again later."

log = logging.getLogger("phoneprov.batches")

Rows = tuple[str, list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Scene:
    """What is rehearsed, and where. ``settings`` hold no secrets."""

    settings: Any
    now: datetime
    actor: Actor
    new: CreateBatch
    macs: Sequence[str]
    keys: Subkeys


@dataclass(frozen=True)
class TwinProcess(Stage):
    """Rehearses one batch at a time, each in a process of its own with a lower priority.
    ``settings`` hold no secrets."""

    database: Database
    settings: Any
    seconds: float = SECONDS
    _one: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1), init=False)

    async def __call__(
        self, actor: Actor, new: CreateBatch, macs: Sequence[str], now: datetime
    ) -> Rehearsal:
        try:
            async with asyncio.timeout(self.seconds), self._one:
                async with self.database.read() as tx:
                    keys = tx.twin.keys
                return await self._run(Scene(self.settings, now, actor, new, macs, keys))
        except TimeoutError:
            raise Unavailable(TOO_LATE) from None

    async def _run(self, scene: Scene) -> Rehearsal:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")}
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", MODULE, stdin=pipe, stdout=pipe, stderr=nowhere,
                env=environment,
                start_new_session=True,  # a signal to the service's process group is not for it
            )  # fmt: skip
        except OSError:
            raise Unavailable(NOT_DONE) from None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(ConnectionError):  # it has ended: its answer says why
                async for frame in _frames(self.database, scene):
                    process.stdin.write(frame)
                    await process.stdin.drain()
                process.stdin.close()
            answer = await process.stdout.read()
            if await process.wait() == 0:
                found = msgspec.msgpack.decode(answer, type=Rehearsal | str)
                if isinstance(found, Rehearsal):
                    return found
                log.error("A rehearsal failed (%s).", found)
            else:
                log.error("The process of a rehearsal ended with %d.", process.returncode)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        raise Unavailable(NOT_DONE)


async def _frames(database: Database, scene: Scene) -> AsyncIterator[bytes]:
    """What the process reads: the scene, rows of tables, the phones that were in a call, and the
    end."""
    yield pickle.dumps(scene)
    calls: dict[str, tuple[Any, ...]] = {}
    async for rows in copied(database, scene, calls):
        yield pickle.dumps(rows)
    yield pickle.dumps(None)
    yield pickle.dumps(calls)


async def copied(
    database: Database, scene: Scene, calls: dict[str, tuple[Any, ...]]
) -> AsyncIterator[Rows]:
    """The rows that the batch needs, in pieces; ``calls`` is filled with the phones that batches
    found busy."""
    new, macs = scene.new, list(dict.fromkeys(scene.macs))
    people = {scene.actor.user_uuid}
    profiles = {one.profile_uuid for one in new.items or ()} | {new.profile_uuid or ""}
    numbers = {new.revision or 0}
    busy_since = timestamp(scene.now - timedelta(minutes=2 * MOST_WAIT_MINUTES))
    done: set[str] = set()
    entries: dict[tuple[Any, ...], None] = {}

    def note(into: set[Any], table: str, rows: list[tuple[Any, ...]], column: str) -> None:
        place = place_in(table, column)
        into.update(row[place] for row in rows if row[place] is not None)

    async with database.read() as tx:
        for table in _WHOLE:
            rows = await tx.twin.rows(table)
            if table == "replacements":
                successors = _successors(rows, set(macs))
            yield table, rows
        yield "phones", await tx.twin.rows("phones", "mac", successors)
        if new.as_of is not None:
            entries.update(dict.fromkeys(await tx.twin.kept_since()))
            past = await tx.twin.past(successors, new.as_of)
            entries.update(dict.fromkeys(past["audit"]))
        newest = await tx.twin.newest_deployments(_NEWEST)
        for start in range(0, len(macs), _PIECE):
            piece = macs[start : start + _PIECE]
            for table, column in _OF_PHONES:
                rows = await tx.twin.rows(table, column, piece)
                if table == "desks":
                    note(profiles, table, rows, "profile_uuid")
                    note(profiles, table, rows, "default_profile_uuid")
                    note(people, table, rows, "user_uuid")
                elif table == "leases":
                    rows = _ending(rows, millis(scene.now) + _UNDER_WAY_MS)
                yield table, rows
            rows = await tx.twin.deployments(piece)
            if new.as_of is not None:
                past = await tx.twin.past(piece, new.as_of)
                rows = list(dict.fromkeys([*rows, *past["deployments"]]))
                entries.update(dict.fromkeys(past["audit"]))
            note(profiles, "deployments", rows, "profile_uuid")
            note(people, "deployments", rows, "owner_uuid")
            note(numbers, "deployments", rows, "revision")
            done |= {row[place_in("deployments", "uuid")] for row in rows}
            yield "deployments", rows
            for mac, *found in await tx.twin.busy(piece, busy_since):
                calls[mac] = tuple(found)
            await asyncio.sleep(0)
        yield "audit", list(entries)
        others = [row for row in newest if row[place_in("deployments", "uuid")] not in done]
        yield "deployments", others
        async for rows_of in _of_people(tx, profiles, numbers, people):
            yield rows_of


def _ending(leases: list[tuple[Any, ...]], until: int) -> list[tuple[Any, ...]]:
    """The leases, with their end at this time at the latest."""
    end = place_in("leases", "expires_at")
    return [(*row[:end], min(row[end], until), *row[end + 1 :]) for row in leases]


def _successors(replacements: list[tuple[Any, ...]], macs: set[str]) -> list[str]:
    """The phones in the place of phones of the batch, which are not in the batch themselves: the
    reason for which a phone is left alone names them."""
    mac, earlier = place_in("replacements", "mac"), place_in("replacements", "earlier")
    found = {row[mac] for row in replacements if row[earlier] in macs}
    return sorted(found - macs)


async def _of_people(
    tx: SqlTransaction, profiles: set[str], numbers: set[Any], people: set[str]
) -> AsyncIterator[Rows]:
    """The profiles with their revisions, and their owners with their lines."""
    for piece in _pieces(profiles):
        rows = await tx.twin.rows("profiles", "uuid", piece)
        people.update(row[place_in("profiles", "user_uuid")] for row in rows)
        yield "profiles", rows
        yield "profile_revisions", await tx.twin.revisions(piece, sorted(numbers))
    extensions: set[str] = set()
    for piece in _pieces(people):
        yield "users", await tx.twin.rows("users", "uuid", piece)
        yield "assignments", await tx.twin.rows("assignments", "user_uuid", piece)
        links = await tx.twin.rows("user_extensions", "user_uuid", piece)
        extensions.update(row[place_in("user_extensions", "extension_uuid")] for row in links)
        yield "user_extensions", links
    for piece in _pieces(extensions):
        yield "extensions", await tx.twin.rows("extensions", "uuid", piece)


def _pieces(keys: set[str]) -> list[list[str]]:
    ordered = sorted(keys)
    return [ordered[start : start + _PIECE] for start in range(0, len(ordered), _PIECE)]


_WHOLE = ("permissions", "configuration_templates", "vendor_services", "locations", "replacements")
_OF_PHONES = (
    ("phones", "mac"),
    ("vendor_phones", "mac"),
    ("kems", "connected_phone"),
    ("phone_states", "mac"),
    ("current_deployments", "mac"),
    ("leases", "mac"),
    ("desks", "mac"),
    ("renderings", "mac"),
)
