"""The lease of a phone while it is switched, and the steps with their results."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from errno import errorcode
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut, Unavailable
from phoneprov_core.kernel.ports import Clock, Pause, ReadAndWrite
from phoneprov_core.kernel.values import millis
from phoneprov_core.switching.deployments.model import Deployment, Step, StepName
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, LeaseStore
from phoneprov_core.switching.devices.ports import (
    ConfigUploader,
    Content,
    LeasedTransaction,
    ReadsFiles,
    Upload,
    Uploaded,
)
from phoneprov_core.switching.errors import (
    NO_UPLOAD,
    OUTCOME_UNKNOWN,
    REPLY_LOST,
    AddressNotConfirmed,
    LeaseLost,
    NoAddress,
    RefusedMidway,
    TimedOutMidway,
)

LOOK_SECONDS = 2.0
"""Deadline of a check of a lease; after it the clock of this host decides."""

RETRY_SECONDS = 1.0
"""Pause before a write is tried again that the database did not take."""

MOST_TRIES = 600
"""So often it is tried: longer than a lease lasts, as long as no other holder follows."""

R = TypeVar("R")


class LeasesTransaction(Protocol):
    """The one store that a holder needs."""

    @property
    def leases(self) -> LeaseStore: ...


TX = TypeVar("TX", bound=LeasesTransaction)


@dataclass(frozen=True)
class Holding(Generic[TX]):
    """A lease that was acquired. ``until`` is when it expires by the clock of this host, which
    decides only while the database is away: a process may stand still at any moment, and another
    holder may have followed when it continues."""

    database: ReadAndWrite[TX]
    clock: Clock
    mac: str
    holder: str
    fence: int
    until: datetime

    @asynccontextmanager
    async def write(self, actor: Actor, *, even_expired: bool = False) -> AsyncIterator[TX]:
        """A writing transaction of the holder; no other acquires the phone until it ends. Raises
        ``LeaseLost``; with ``even_expired`` only if another holder followed."""
        async with self.database.write(by=actor) as tx:
            await self._compare(tx, even_expired=even_expired)
            yield tx

    async def look(self, tx: LeasedTransaction | None = None) -> None:
        """Look at the lease before a command that cannot be taken back, in the caller's
        transaction if there is one. Raises ``LeaseLost``."""
        if tx is not None:
            await self._compare(tx)
            return
        try:
            async with asyncio.timeout(LOOK_SECONDS), self.database.read() as reading:
                await self._compare(reading)
        except (Unavailable, TimeoutError):
            self.require_time()

    def require_time(self) -> None:
        """Raises ``LeaseLost`` if the lease has expired by the clock of this host."""
        if self.clock() >= self.until:
            raise LeaseLost

    async def _compare(self, tx: LeasedTransaction, *, even_expired: bool = False) -> None:
        is_held = await tx.leases.is_held(
            self.mac, self.holder, self.fence, even_expired=even_expired
        )
        if not is_held:
            raise LeaseLost


Held: TypeAlias = Holding[DeploymentsTransaction]


class Begun(NamedTuple):
    """A deployment whose lease is held. ``replaces`` is the content that the file on the server
    has, if no other program changed it; None if it is not known. ``may_be_placed`` is whether the
    deployment before was interrupted and may have put the same content in place."""

    actor: Actor
    request: DeploymentRequest
    record: Deployment
    holding: Held
    replaces: Content | None
    may_be_placed: bool = False


@dataclass(eq=False)
class RestartGate(Generic[TX]):
    """The ``Proceed`` of a restart. ``record`` keeps that the phone may restart, before the first
    command is sent; it returns False while the database is away, which does not stop the restart.
    Before each further command the lease is looked at. ``is_open`` is whether a command may have
    been sent."""

    holding: Holding[TX]
    record: Callable[[], Awaitable[bool]]
    is_open: bool = field(default=False, init=False)
    _is_recorded: bool = field(default=False, init=False)

    async def __call__(self, tx: LeasedTransaction | None = None) -> None:  # noqa: ARG002
        if self._is_recorded:
            await self.holding.look()
            return
        if not self.is_open:
            self._is_recorded = await self.record()
        if not self._is_recorded:
            self.holding.require_time()
        self.is_open = True


FINDING_SECONDS = 3.0
"""Deadline for reading the file that an interrupted deployment may have put in place."""

FOUND_IN_PLACE = "an interrupted deployment had put this file in place"


async def upload(uploader: ConfigUploader, begun: Begun) -> Uploaded:
    """Put the file in place, unless an interrupted deployment did so. Raises like
    ``ConfigUploader``, and ``AddressNotConfirmed`` in place of ``NoAddress`` for a phone whose
    recorded address gets no login."""
    phone, record = begun.request.phone, begun.record
    content = begun.request.cnf_xml.encode()
    if begun.may_be_placed and (found := await _found(uploader, begun, content)) is not None:
        return found
    order = Upload(
        phone.login_ip,
        record.filename,
        content,
        record.uuid,
        begun.replaces,
        begun.holding.look,
        begun.request.more_follow,
    )
    try:
        return await uploader.upload(order)
    except NoAddress:
        if phone.phone_ip == phone.login_ip:
            raise
        raise AddressNotConfirmed(NO_UPLOAD) from None


async def _found(uploader: ConfigUploader, begun: Begun, content: bytes) -> Uploaded | None:
    """The file as an interrupted deployment put it in place; None if it has other content, or
    cannot be read."""
    phone, record = begun.request.phone, begun.record
    if not isinstance(uploader, ReadsFiles):
        return None
    try:
        async with uploader.opened(phone.login_ip, FINDING_SECONDS) as files:
            if await files.read(record.filename, len(content) + 1) != content:
                return None
            place = files.place(record.filename)
    except PhoneprovError:
        return None
    await begun.holding.look()
    assert record.content is not None
    size, sha256 = record.content.size, record.content.sha256
    return Uploaded(place, size, sha256, (FOUND_IN_PLACE,))


async def persistently(
    write: Callable[[], Awaitable[R]], pause: Pause, tries: int = MOST_TRIES
) -> R:
    """The result of a write, which is repeated while the database is away. To be repeated, it must
    find out whether an earlier try was committed. Raises ``Unavailable`` after the last one."""
    for _ in range(tries - 1):
        try:
            return await write()
        except Unavailable:
            await pause(RETRY_SECONDS)
    return await write()


T = TypeVar("T")

Progress = Callable[[StepName, Step | None], None]
"""Called twice for each step: with None when it begins, with its result when it ends."""


def no_progress(_name: StepName, _step: Step | None) -> None:
    """Ignores the events."""


def unexpected(step: StepName, error: OSError) -> PhoneprovError:
    """Convert an exception that an uploader or a phone driver of another package raised against its
    contract. The text of the exception may contain secrets: only its error number is used."""
    late = isinstance(error, TimeoutError)
    reason = "did not answer in time"
    if not late:
        reason = f"failed: {errorcode.get(error.errno or 0, type(error).__name__)}"
    if step is StepName.UPLOAD:
        end = "It is not known whether the phone's file is the new one or the old one."
        return (TimedOutMidway if late else RefusedMidway)(f"The uploader {reason}. {end}")
    end = "The phone did not confirm the command; it may still carry it out."
    return (TimedOut if late else Refused)(f"The phone driver {reason}. {end}", code=REPLY_LOST)


def _ok_after(error: PhoneprovError) -> bool | None:
    """Whether a step succeeded that raised ``error``: None if that is not known."""
    return None if error.code in {OUTCOME_UNKNOWN, REPLY_LOST} else False


class StepRecorder:
    """Runs steps, and records how each went."""

    def __init__(self, clock: Clock, progress: Progress) -> None:
        self.steps: list[Step] = []
        self._clock = clock
        self._progress = progress

    async def step(self, name: StepName, work: Awaitable[T]) -> T:
        """Run one step and record how it went. Raises what the step raises; an ``OSError`` of an
        adapter is converted to ``Refused`` or ``TimedOut``."""
        self._progress(name, None)
        began = millis(self._clock())
        message: str | None = None
        ok: bool | None = False
        try:
            result = await work
            ok = True
            if isinstance(result, Uploaded):
                message = "; ".join(result.notes) or None
            return result
        except PhoneprovError as error:
            ok, message = _ok_after(error), error.message
            raise
        except OSError as error:
            failure = unexpected(name, error)
            ok, message = _ok_after(failure), failure.message
            raise failure from error
        finally:
            step = Step(name, ok, message, max(0, millis(self._clock()) - began))
            self.steps.append(step)
            self._progress(name, step)

    async def attempt(
        self, name: StepName, work: Awaitable[object], *, fatal: type[PhoneprovError] | None = None
    ) -> Step:
        """Run one step whose failure does not stop the deployment, except one of the kind
        ``fatal``; returns its result."""
        try:
            await self.step(name, work)
        except PhoneprovError as error:
            if fatal is not None and isinstance(error, fatal):
                raise
        return self.steps[-1]
