"""The process in which a batch is rehearsed: the container of the service over a twin."""

import asyncio
import os
import pickle  # nosec B403
import resource
import signal
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from phoneprov_adapters.composition.adapters import cisco_phones
from phoneprov_adapters.composition.batches import LOOK_SECONDS, repeated
from phoneprov_adapters.composition.container import Container, container_with
from phoneprov_adapters.composition.plugins import PHONE_DRIVERS
from phoneprov_adapters.memory.database import TwinDatabase
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.rehearsal.phones import TwinPhones, TwinUploader
from phoneprov_adapters.rehearsal.process import SECONDS, JumpingLoop, Scene
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.serving.uploader import ServedUploader
from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.features.batches.model import Batch, BatchAction, BatchState
from phoneprov_core.features.rehearsal.foresight import (
    CallSeen,
    durations_of,
    expected_of,
    failed_upload,
    server_failure,
    share_of_upload,
    work_of,
)
from phoneprov_core.features.rehearsal.model import (
    MOST_FAILURES,
    MOST_PHONES,
    Cause,
    Evidence,
    Expected,
    Foretold,
    ForetoldFailure,
    Rehearsal,
    counted,
    foretell,
    timeline_of,
)
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.switching.deployments.confirm import Watch
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter, StepName
from phoneprov_core.switching.devices.commands import NeverRestarting, RestartBy

MOST_BYTES = 2 * 1024**3
"""Maximum memory of the process."""
_LOWER_PRIORITY = 10
_NEWEST, _TYPICAL = 8, 500
_FORBIDDEN = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess")


def main() -> None:
    """Rehearse what standard input holds. The process opens no connection and starts no program,
    and ends by itself."""
    os.nice(_LOWER_PRIORITY)
    signal.alarm(int(SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    sys.addaudithook(_refuse)
    source = sys.stdin.buffer
    scene: Scene = _next(source)
    answer: Rehearsal | str
    try:
        answer = rehearse(scene, iter(lambda: _next(source), None), lambda: _next(source))
    except Exception as error:  # noqa: BLE001 - its text may hold what is in a record
        answer = type(error).__name__
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))


def _next(source: BinaryIO) -> Any:
    return pickle.load(source)  # noqa: S301 - the service alone writes to it  # nosec B301


def _refuse(event: str, _arguments: object) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError("a rehearsal reaches nothing outside")


def rehearse(scene: Scene, rows: Iterable[Any], calls_of: Any) -> Rehearsal:
    """Run the batch on a twin of these rows."""
    loop = JumpingLoop(scene.now)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(_Twin(scene, loop).run(rows, calls_of))


class _Twin:
    def __init__(self, scene: Scene, loop: JumpingLoop) -> None:
        self.scene = scene
        self.database = TwinDatabase(lambda: millis(loop.clock()), SecretBox(scene.keys))
        self.phones = TwinPhones(scene.settings.phone_networks, loop.clock)
        self.container = _container(scene, self.database, self.phones, loop)
        self.loop = loop
        self.causes: dict[str, Cause] = {}

    async def run(self, rows: Iterable[Any], calls_of: Any) -> Rehearsal:
        await self.database.fill(rows)
        await self._add_phones(calls_of())
        # A token that may only read may rehearse: nothing but the twin is changed.
        actor = replace(self.scene.actor, read_only=False)
        batch = await self.container.batches().start(actor, self.scene.new)
        batch = await self._ended(batch)
        undo = None
        if batch.undone_by is not None:
            undo = await self._ended(await self._find(batch.undone_by))
        return await self._answer(batch, undo)

    async def _find(self, uuid: str) -> Batch:
        async with self.database.read() as tx:
            return require(await tx.batches.find(uuid), "batch")

    async def _ended(self, batch: Batch) -> Batch:
        """The batch when its last phone has ended, with the looks of the service."""
        (look,) = repeated(self.container)
        if batch.state is BatchState.PLANNED and batch.start_at is not None:
            begin = datetime.fromisoformat(batch.start_at) - self.container.clock()()
            await asyncio.sleep(begin.total_seconds())
        while batch.ended_at is None:
            await look.work()
            await asyncio.sleep(LOOK_SECONDS)
            batch = await self._find(batch.uuid)
        return batch

    async def _add_phones(self, calls: dict[str, tuple[Any, ...]]) -> None:
        """Give each phone its expected behaviour."""
        settings, now = self.scene.settings, self.scene.now
        is_own_server = settings.uploader == "ftp" and not settings.ftp_host
        async with self.database.read() as tx:
            newest = await tx.deployments.matching(DeploymentFilter()).newest(_TYPICAL)
            over = [one for one in newest if one.ended_at]
            usual, server = durations_of(over), None if is_own_server else server_failure(over)
            work = work_of(over)
            if server is not None:
                failures = []
                for one in over[:_NEWEST]:
                    if (found := failed_upload(one)) is not None:
                        of_phone = tx.deployments.matching(DeploymentFilter(mac=one.mac))
                        failures.append((found, await of_phone.newest(_NEWEST)))
                server = replace(server, share=share_of_upload(failures))
            for mac in self.scene.macs:
                phone = await tx.phones.find(mac)
                if phone is None:
                    continue
                of_phone = tx.deployments.matching(DeploymentFilter(mac=mac))
                theirs = [
                    one
                    for one in await of_phone.newest(_NEWEST)
                    if one.ended_at and one.created_at >= phone.created_at
                ]
                behaviour = expected_of(
                    phone, await tx.fleet.find(mac), theirs, _call(calls.get(mac)),
                    usual=usual, server=server, is_own_server=is_own_server, now=now,
                )  # fmt: skip
                self.causes[mac] = behaviour.cause
                self.phones.add(phone, behaviour)
        self.loop.begin_work()
        self.phones.wait = work.wait
        self.database.count(lambda statements: self.loop.work(statements * work.statement))

    async def _answer(self, batch: Batch, undo: Batch | None) -> Rehearsal:
        foretold: list[Foretold] = []
        failures: list[ForetoldFailure] = []
        async with self.database.read() as tx:
            phones = await tx.batches.phones(batch.uuid, WantedPhones()).rows(MOST_PHONES)
            claims = await tx.batches.items(batch.uuid, 0, MOST_PHONES)
            for phone, claim in zip(phones, claims, strict=True):
                record = await tx.deployments.find(phone.deployment_uuid or "")
                was_tried = record is not None or batch.action is BatchAction.RESTART
                one = foretell(
                    phone,
                    self.causes.get(phone.mac, Cause(Evidence.RECORDS)),
                    was_busy=claim.waiting_since is not None,
                    was_tried=was_tried,
                )
                foretold.append(one)
                if one.outcome is Expected.FAILED and len(failures) < MOST_FAILURES:
                    failures.append(_failure(one, record))
        ended = [one.ended_at for one in phones if one.ended_at]
        undone = 0 if undo is None else undo.phones.done
        seconds, timeline = timeline_of(batch, ended, undo, undone)
        return Rehearsal(
            as_of=timestamp(self.scene.now),
            phones=len(foretold),
            outcomes=counted(foretold),
            first_failures=tuple(failures),
            seconds=seconds,
            stopped_because=batch.message,
            undone=undone,
            timeline=timeline,
            foretold=tuple(foretold),
        )


def _call(found: tuple[Any, ...] | None) -> CallSeen | None:
    """The call in which a batch found a phone, None for one that was busy otherwise."""
    if found is None:
        return None
    since, ended_at, state, message = found
    if "in a call" not in (message or ""):
        return None
    return CallSeen(since, None if state == "waiting" else ended_at)


def _failure(one: Foretold, record: Deployment | None) -> ForetoldFailure:
    step = None
    if record is not None:
        step = record.failed_step or StepName.RESTART
    return ForetoldFailure(one.mac, step, one.message or "", one.evidence, one.evidence_at)


def _container(
    scene: Scene, database: TwinDatabase, phones: TwinPhones, loop: JumpingLoop
) -> Container:
    settings = scene.settings
    manager = phones if settings.manager else None
    inner = (
        ServedUploader(database)
        if settings.uploader == "served"
        else MemoryUploader(settings.phone_networks, host=settings.ftp.host)
    )
    driver: Any = cisco_phones(settings, phones, manager)
    if settings.phone_driver not in PHONE_DRIVERS.built_in and settings.restart is RestartBy.NONE:
        driver = NeverRestarting(driver)
    by_exchange = manager is not None and settings.restart in {RestartBy.AUTO, RestartBy.AMI}
    web = WebWatch(phones, settings.phone_networks)
    return container_with(
        settings,
        SecretKeys.parse("a twin signs nothing but for itself"),
        database=database,
        clock=loop.clock,
        ami=None,
        phone_commands=phones,
        manager=manager,
        calls=phones,
        exchange_lines=None,
        compare_lines=None,
        uploader=TwinUploader(phones, inner),
        phone_driver=driver,
        watch=Watch(phones if by_exchange else None, web, seconds=settings.confirm_timeout),
        journal=lambda _: None,
    )


if __name__ == "__main__":
    main()
