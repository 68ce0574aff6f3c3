"""The process that runs: work that continues when its caller is cancelled, comparisons in a thread,
the clock, identifiers, and the lines of the log for what has happened."""

import asyncio
import logging
import os
import secrets
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.batches.run import RunBatches
from phoneprov_core.features.retention import Pruned
from phoneprov_core.inventory.configuration.comparison import Compared, Comparison, compare
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.people.auth.model import LoginFailure
from phoneprov_core.switching.deployments.model import Deployment, Outcome

SMALL = 32 * 1024
"""Maximum number of characters that are compared in a thread: at most about 0.1 s."""

SECONDS = 20.0
"""Deadline of a comparison, including the wait for earlier ones."""

_LOWER_PRIORITY = 10


class Comparing:
    """A ``Compare`` that compares one large pair of texts at a time."""

    def __init__(self, *, small: int = SMALL, seconds: float = SECONDS) -> None:
        self._small = small
        self._seconds = seconds
        self._one = asyncio.Semaphore(1)

    async def __call__(self, comparison: Comparison) -> Compared:
        """Raises ``Unavailable``."""
        if len(comparison.old or "") + len(comparison.new) <= self._small:
            return await asyncio.to_thread(compare, comparison)
        try:
            async with asyncio.timeout(self._seconds), self._one:
                return await asyncio.to_thread(_in_process, comparison, self._seconds)
        except (TimeoutError, subprocess.SubprocessError, OSError):
            raise Unavailable(
                "The configurations could not be compared in time; try again later."
            ) from None


def _in_process(comparison: Comparison, seconds: float) -> Compared:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PHONEPROV_")
    }
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    done = subprocess.run(  # noqa: S603 - no argument comes from outside  # nosec B603
        [sys.executable, "-P", "-m", __name__],
        input=msgspec.msgpack.encode(comparison),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        timeout=seconds,
        check=True,
        start_new_session=True,  # a signal to the service's process group ends the service only
    )
    return msgspec.msgpack.decode(done.stdout, type=Compared)


def main() -> None:
    """Compare what standard input holds."""
    os.nice(_LOWER_PRIORITY)
    comparison = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Comparison)
    sys.stdout.buffer.write(msgspec.msgpack.encode(compare(comparison)))


if __name__ == "__main__":
    main()


T = TypeVar("T")

_CANCEL_SECONDS = 5.0
"""Seconds that a cancelled task has to end."""

log = logging.getLogger("phoneprov.batches")


class OwnedTasks:
    """Runs work in separate tasks, and can end all of them."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], float] = {}
        self._background: set[asyncio.Future[Any]] = set()
        self._draining = False

    async def run(self, work: Awaitable[T]) -> T:
        """The result of the work; the work continues when this call is cancelled."""
        task = asyncio.ensure_future(work)
        self._running[task] = asyncio.get_running_loop().time()
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def start(self, work: Awaitable[None]) -> None:
        """Start background work; a shutdown cancels it."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._forget)
        if self._draining:
            _end(task)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._running.pop(task, None)
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # Retrieved, so that asyncio does not report it.

    async def drain(self, seconds: float) -> None:
        """Cancel the background work, and wait for all other work. Work that runs ``seconds`` after
        its start is cancelled."""
        self._draining = True
        for task in self._background:
            _end(task)
        loop = asyncio.get_running_loop()
        last = loop.time() + seconds
        while running := set(self._running):  # one may start another, which ends it
            timers = [
                loop.call_at(min(since + seconds, last), task.cancel)
                for task, since in self._running.items()
            ]
            left = last + _CANCEL_SECONDS - loop.time()
            done, _ = await asyncio.wait(running, timeout=max(0.0, left))
            for timer in timers:
                timer.cancel()
            if not done:
                break
        if self._background:
            await asyncio.wait(set(self._background), timeout=_CANCEL_SECONDS)
        self._draining = False


def _end(task: asyncio.Future[Any]) -> None:
    # Cancelled in the next turn of the loop, after its start: otherwise its cleanup would not run.
    asyncio.get_running_loop().call_soon(task.cancel)


async def to_its_end(work: Awaitable[T]) -> T:
    """The result of the work. A cancellation is passed on after the work has ended: what was handed
    to a server, a thread or a database is executed in any case."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # Retrieved, so that asyncio does not report it.
    raise cancelled


async def process_batches(run: RunBatches) -> None:
    """Process open batches without a holder until none is left. Failures are logged: the next
    worker continues the batch."""
    try:
        await run()
    except Unavailable as error:
        log.warning("A batch worker failed. %s", error.message)
    except Exception:
        log.exception("A batch worker failed.")


def system_clock() -> datetime:
    """The current time in UTC, cut to milliseconds, so that stored and shown values are equal."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def processors() -> int:
    """The processors that this process may use: more threads would compete for them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def random_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())


_last = 0


def ordered_id() -> str:
    """A UUID of version 7 (RFC 9562): the identifiers of one process are in order of creation, also
    within a millisecond."""
    global _last  # noqa: PLW0603 - the counter of RFC 9562, section 6.2
    _last = max(_last + 1, (time.time_ns() // 1_000_000) << 12)
    moment, counter = _last >> 12, _last & 0xFFF
    value = moment << 80 | 7 << 76 | counter << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))


deployments = logging.getLogger("phoneprov.deployments")
logins = logging.getLogger("phoneprov.logins")
maintenance = logging.getLogger("phoneprov.maintenance")


def log_deployment(deployment: Deployment) -> None:
    """One line when a deployment ends, one when its confirmation is known. The steps with
    their notes are in it; no secret is."""
    level = logging.INFO if deployment.outcome is Outcome.DEPLOYED else logging.WARNING
    deployments.log(level, "deployment", extra={"fields": msgspec.to_builtins(deployment)})


def log_batch(batch: Batch) -> None:
    """One line when a batch has ended."""
    deployments.info("batch", extra={"fields": msgspec.to_builtins(batch)})


def log_pruned(pruned: Iterable[Pruned]) -> None:
    """One line for each kind of which old records were removed, or could not be."""
    for one in pruned:
        if one.message is not None:
            maintenance.warning("pruning failed", extra={"fields": msgspec.to_builtins(one)})
        elif one.count:
            maintenance.info("pruned", extra={"fields": msgspec.to_builtins(one)})


def log_login_failure(failure: LoginFailure) -> None:
    """One line for each login that was refused: ``login failed``, or ``login locked`` while
    logins are not checked. fail2ban reads these lines (deploy/fail2ban)."""
    is_wrong = failure.reason not in {"too_many_attempts", "locked", "pin_locked", "token_locked"}
    fields = {"client_ip": failure.client_ip, "reason": failure.reason}
    logins.warning("login failed" if is_wrong else "login locked", extra={"fields": fields})
