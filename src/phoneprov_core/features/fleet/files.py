"""Comparing the files on the servers with what was deployed, in rounds.

A listing of the folder says which files are as they were when their content was last read. The
others are read, and every file in turn, because size and time may be the same after a change. What
a server states about a file is only compared with itself: its clock and its time zone do not
matter, and only content decides that a file was changed.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from zlib import crc32

from msgspec import Struct

from phoneprov_core.features.fleet.model import FleetTransaction
from phoneprov_core.features.fleet.states import WatchedFile
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.kernel.ports import Clock, Pause, ReadAndWrite
from phoneprov_core.kernel.values import millis
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.observation import FileState, ServerFile
from phoneprov_core.switching.devices.ports import ConfigUploader, FilesOnServer, ReadsFiles

ROUNDS = 8
"""Each file is read at least once in this many rounds, as far as time and bytes allow."""
BYTES_A_SECOND = 128 * 1024
"""Of each server, on average."""
_LEAST_SECONDS = 60.0
"""Time of a round that is shorter."""
_LONGEST_PAUSE = 1.0
"""Seconds between two files, so that no server ends the session."""
_AT_ONCE = 4
"""Servers that are read at the same time, if each phone is one."""
_MOST_SESSIONS = 3
"""Sessions on a server in a round: one more after each file that ended one."""
_PIECE = 500

log = logging.getLogger("phoneprov.fleet")

Keep = Callable[[str, FileState], Awaitable[None]]
"""Port: store the state of the file of the phone with this MAC."""


class Same(Struct, frozen=True):
    """A file had the content of a deployment, in a round, while the listing showed ``stamp``: the
    hash of its text, None if it was not listed."""

    deployment_uuid: str | None
    stamp: int | None
    round: int


def needs_reading(file: WatchedFile, stamp: int | None, same: Same | None, number: int) -> bool:
    """Whether the content of a file has to be read in the round of this number."""
    if same is None or (same.deployment_uuid, same.stamp) != (file.deployment_uuid, stamp):
        return True
    return (crc32(file.mac.encode()) + number) % ROUNDS == 0 or number - same.round >= ROUNDS


@dataclass(eq=False)
class FilesRound:
    """The result of a round of ``seconds``: the number of files read, and why servers and files
    could not be read."""

    seconds: float
    keep: Keep
    goes_on: Callable[[], bool]
    read: int = 0
    failures: list[str] = field(default_factory=list)

    async def keep_changed(self, file: WatchedFile, state: FileState) -> None:
        """Store the state of a file, if it changed."""
        if file.file != state:
            await self.keep(file.mac, state)


@dataclass(eq=False)
class CompareFiles:
    """Compares the file of each active phone with an address. There is one session on each server
    in a round, and one more after each file that ended one. A round whose time is over stops; the
    next one begins with the files that were read longest ago."""

    database: ReadAndWrite[FleetTransaction]
    uploader: ConfigUploader
    clock: Clock
    pause: Pause
    _number: int = 0
    _same: dict[str, Same] = field(default_factory=dict)
    _about: dict[str, str | None] = field(default_factory=dict)
    """The deployment that the known state of a file is about."""
    _last: set[str] = field(default_factory=set)
    """Phones whose file ended a session: it is read after all others."""

    async def round(self, seconds: float, keep: Keep, leads: Callable[[], bool]) -> FilesRound:
        """Compare each file, within ``seconds`` and as long as ``leads``. Only a state that changed
        is passed to ``keep``. Raises ``Unavailable``."""
        self._number += 1
        end = millis(self.clock()) + max(seconds, _LEAST_SECONDS) * 1000
        done = FilesRound(seconds, keep, lambda: millis(self.clock()) < end and leads())
        servers: dict[str, list[WatchedFile]] = defaultdict(list)
        macs: set[str] = set()
        async for file in self._files():
            macs.add(file.mac)
            server = self._server_of(file)
            if server is None:
                await done.keep_changed(file, "unknown")
            else:
                servers[server].append(file)
        self._same = {mac: same for mac, same in self._same.items() if mac in macs}
        self._about = {mac: uuid for mac, uuid in self._about.items() if mac in macs}
        self._last &= macs
        pending = iter(servers.values())
        await asyncio.gather(*(self._through(pending, done) for _ in range(_AT_ONCE)))
        if done.failures:
            log.warning(
                "%d file servers or files could not be read. The first: %s",
                len(done.failures),
                done.failures[0],
            )
        return done

    async def _files(self) -> AsyncIterator[WatchedFile]:
        after = ""
        while True:
            async with self.database.read() as tx:
                piece = await tx.fleet.files(after, _PIECE)
            for file in piece:
                yield file
            if len(piece) < _PIECE:
                return
            after = piece[-1].mac

    def _server_of(self, file: WatchedFile) -> str | None:
        """The server with the file; None if there is none to compare."""
        if file.deployment_uuid is None or not isinstance(self.uploader, ReadsFiles):
            return None
        with suppress(Conflict):
            return self.uploader.server_of(file.login_ip)
        return None

    async def _through(self, pending: Iterator[list[WatchedFile]], done: FilesRound) -> None:
        for files in pending:
            # A phone that is its own server, and is off, would only take the time.
            if len(files) > 1 or files[0].answers is not False:
                await self._on_server(files, done)

    async def _on_server(self, files: list[WatchedFile], done: FilesRound) -> None:
        assert isinstance(self.uploader, ReadsFiles)
        listing: Listing | None = None
        left = files
        for _ in range(_MOST_SESSIONS):
            current: WatchedFile | None = None
            try:
                async with self.uploader.opened(files[0].login_ip) as session:
                    if listing is None:
                        listing = Listing(await session.listing({_name(one) for one in files}))
                        left = await self._unsure(files, listing, done)
                        pause = min(done.seconds / (len(left) or 1), _LONGEST_PAUSE)
                    while left and done.goes_on():
                        current = left.pop()
                        size = await self._compare(session, current, listing, done)
                        current = None
                        await self.pause(max(pause, size / BYTES_A_SECOND))
                return
            except (Refused, TimedOut, Conflict) as error:
                done.failures.append(error.message)
            except OSError as error:  # Of an uploader of another package, against its contract.
                done.failures.append(f"The uploader failed: {type(error).__name__}.")
            if current is None:
                break  # The server is unavailable.
            self._last.add(current.mac)
            self._same.pop(current.mac, None)
            await self._decide(current, None, None, done)
        for file in left:
            await self._decide(file, None, None, done)

    async def _unsure(
        self, files: list[WatchedFile], listing: "Listing", done: FilesRound
    ) -> list[WatchedFile]:
        """The files whose content has to be read, the first one last."""
        unsure = []
        for file in files:
            same = self._same.get(file.mac)
            if needs_reading(file, listing.stamp_of(_name(file)), same, self._number):
                unsure.append(file)
            else:
                await done.keep_changed(file, "as_deployed")

        def urgency(file: WatchedFile) -> tuple[bool, bool, int]:
            same = self._same.get(file.mac)
            stamp = listing.stamp_of(_name(file))
            is_due = same is not None and same.stamp == stamp
            return file.mac in self._last, is_due, same.round if same else 0

        return sorted(unsure, key=urgency, reverse=True)

    async def _compare(
        self, session: FilesOnServer, file: WatchedFile, listing: "Listing", done: FilesRound
    ) -> int:
        """Read one file; returns the number of bytes."""
        deployment = await self._in_place(file)
        if deployment is None:
            return 0  # It was switched since, or is being switched.
        name = _name(file)
        content = await session.read(name, (deployment.size or 0) + 1)
        done.read += 1
        state = ServerFile(content, listing.has(name)).compared_with(deployment.sha256)
        # Read again: a switch may have replaced the file.
        if state == "as_deployed" or await self._in_place(file) is not None:
            await self._decide(file, state, listing.stamp_of(name), done)
        return len(content or b"")

    async def _in_place(self, file: WatchedFile) -> Deployment | None:
        """The deployment of the file, None if the phone was or is being switched."""
        async with self.database.read() as tx:
            if await tx.leases.holder(file.mac) is not None:
                return None
            deployment = await tx.deployments.in_place(file.mac)
        is_same = deployment is not None and deployment.uuid == file.deployment_uuid
        return deployment if is_same else None

    async def _decide(
        self, file: WatchedFile, state: FileState | None, stamp: int | None, done: FilesRound
    ) -> None:
        """Store the state of a file; ``state`` is None if the server is away, and the earlier state
        stays. A refused file that was changed stays changed."""
        if state is None or state == "unknown":
            is_known = self._about.get(file.mac, file.deployment_uuid) == file.deployment_uuid
            if is_known and (state is None or file.file != "as_deployed"):
                return
            state = "unknown"
        else:
            self._about[file.mac] = file.deployment_uuid
        if state == "as_deployed":
            self._same[file.mac] = Same(file.deployment_uuid, stamp, self._number)
        else:
            self._same.pop(file.mac, None)
        await done.keep_changed(file, state)


class Listing:
    """What a server lists, None if nothing."""

    def __init__(self, listed: Mapping[str, str] | None) -> None:
        self._listed = None if listed is None else {name: hash(listed[name]) for name in listed}

    def has(self, name: str) -> bool | None:
        """Whether there is such a file, None if it is not known."""
        return None if self._listed is None else name in self._listed

    def stamp_of(self, name: str) -> int | None:
        """What the server shows of the file, as a number; None if nothing."""
        return self._listed.get(name) if self._listed else None


def _name(file: WatchedFile) -> str:
    return file.filename or ""
