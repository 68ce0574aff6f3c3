"""Uploaders, phones, the manager interface and watches in memory."""

import asyncio
import hashlib
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.deployments.observation import (
    DeviceInformation,
    PhoneInformation,
    PhoneWatch,
    Reach,
    Reachability,
    ServerFile,
    Watching,
)
from phoneprov_core.switching.devices.commands import (
    execute_body,
    require_phone,
    require_single_lines,
)
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    FilesOnServer,
    KeyPress,
    ManagerAction,
    ManagerInterface,
    PhoneCommands,
    Proceed,
    ReadsFiles,
    Upload,
    Uploaded,
    always,
)
from phoneprov_core.switching.errors import NoAddress


async def _no_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


class MemoryPhone(PhoneCommands, PhoneInformation):
    """All phones: ``sent`` are the commands that each phone received, ``tells`` the information
    that each returns (empty by default), both by canonical address.

    Pauses take no time unless a ``sleep`` is given.
    """

    def __init__(
        self,
        networks: PhoneNetworks | None = None,
        sleep: Callable[[float], Awaitable[None]] = _no_pause,
    ) -> None:
        self.sent: dict[str, list[str]] = {}
        self.tells: dict[str, DeviceInformation | PhoneprovError] = {}
        self._networks = networks or PhoneNetworks.parse(PRIVATE_RANGES)
        self._sleep = sleep
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failure: tuple[int, PhoneprovError] | None = None

    def fail(self, error: PhoneprovError, *, after: int = 0) -> None:
        """Plan one failure: the next ``after`` commands succeed; the following command is recorded
        and raises ``error``."""
        self._failure = (after, error)

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        address = self._networks.allowed(phone_ip)
        for command in commands:
            execute_body(command.uri)
        async with self._locks[address]:
            information = self.tells.get(address, DeviceInformation())
            if mac is not None and isinstance(information, DeviceInformation):
                require_phone(mac, information.mac)
            for command in commands:
                await proceed()
                self.sent.setdefault(address, []).append(command.uri)
                self._fail_if_planned()
                await self._sleep(command.pause)

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:  # noqa: ARG002
        await asyncio.sleep(0)
        information = self.tells.get(self._networks.allowed(phone_ip), DeviceInformation())
        if isinstance(information, PhoneprovError):
            raise information
        return information

    def _fail_if_planned(self) -> None:
        if self._failure is None:
            return
        after, error = self._failure
        self._failure = (after - 1, error) if after else None
        if not after:
            raise error


class MemoryManager(ManagerInterface):
    """An Asterisk that accepts every action and records it in ``performed``, except a NOTIFY to an
    endpoint that is in ``unregistered``, or that has a contact at another address (``elsewhere``).
    """

    def __init__(self) -> None:
        self.performed: list[ManagerAction] = []
        self.unregistered: set[str] = set()
        self.elsewhere: set[str] = set()
        self._failures: deque[Exception] = deque()

    def fail(self, error: Exception) -> None:
        """Plan that the next action, which is not performed, raises ``error``; several
        planned failures occur in order."""
        self._failures.append(error)

    async def perform(
        self,
        action: ManagerAction,
        phone_ip: str | None = None,  # noqa: ARG002
        proceed: Proceed = always,
    ) -> None:
        require_single_lines(action)
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.popleft()
        endpoint = dict(action.fields).get("Endpoint") if action.name == "PJSIPNotify" else None
        if endpoint in self.unregistered:
            raise Refused("The phone is not registered with Asterisk; restart it by hand.")
        if endpoint in self.elsewhere:
            raise Refused("Its endpoint in Asterisk has a contact at another address.")
        await proceed()
        self.performed.append(action)


class MemoryUploader(ConfigUploader, ReadsFiles):
    """Servers in a dict: ``files["host:21"][filename]`` is a file's content.

    It satisfies the port's contract like the real uploader. ``uploads`` are the uploads that
    succeeded, in order; ``fail_next`` plans a failure of an upload or of a session.
    """

    def __init__(self, networks: PhoneNetworks, *, host: str | None = None) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.uploads: list[Upload] = []
        self._networks = networks
        self._host = host
        self._planned: deque[Exception] = deque()

    def fail_next(self, error: Exception) -> None:
        """Make the next upload or session raise this and change nothing; call it again for further
        failures."""
        self._planned.append(error)

    async def upload(self, upload: Upload) -> Uploaded:
        check_segments(upload.filename, upload.attempt)
        server = self.server_of(upload.phone_ip)
        folder = self.files.setdefault(server, {})
        await asyncio.sleep(0)
        if self._planned:
            raise self._planned.popleft()
        await upload.proceed()
        old = folder.get(upload.filename)
        folder[upload.filename] = upload.content
        self.uploads.append(upload)
        digest = hashlib.sha256(upload.content).hexdigest()
        wanted = upload.replaces
        is_another = wanted is not None and hashlib.sha256(old or b"").hexdigest() != wanted.sha256
        notes = (REPLACED_ANOTHER,) if is_another else ()
        return Uploaded(f"{server}/{upload.filename}", len(upload.content), digest, notes)

    def server_of(self, phone_ip: str | None) -> str:
        if self._host is not None:
            return f"{self._host}:21"
        if phone_ip is None:
            raise NoAddress
        return f"{self._networks.allowed(phone_ip)}:21"

    @asynccontextmanager
    async def opened(
        self,
        phone_ip: str | None,
        seconds: float | None = None,  # noqa: ARG002 - nothing takes time
    ) -> AsyncIterator[FilesOnServer]:
        server = self.server_of(phone_ip)
        await asyncio.sleep(0)
        if self._planned:
            raise self._planned.popleft()
        yield MemoryFiles(server, self.files.setdefault(server, {}))


class MemoryFiles(FilesOnServer):
    """The files of a server; a listing shows their sizes."""

    def __init__(self, server: str, folder: dict[str, bytes]) -> None:
        self._server = server
        self._folder = folder

    def place(self, name: str) -> str:
        return f"{self._server}/{name}"

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        await asyncio.sleep(0)
        return {name: str(len(self._folder[name])) for name in names if name in self._folder}

    async def read(self, name: str, limit: int) -> bytes | None:
        await asyncio.sleep(0)
        content = self._folder.get(name)
        return None if content is None else content[:limit]


class MemoryWatch(PhoneWatch):
    """``comes_back`` completes all watches of a phone, ``goes_missing`` fails them. ``refuse``
    plans that the next watch cannot begin. ``watched`` lists the MACs under watch, oldest
    first."""

    def __init__(self) -> None:
        self.watched: list[str] = []
        self._refusal: PhoneprovError | None = None
        self._waiting: defaultdict[str, list[asyncio.Future[str]]] = defaultdict(list)

    def refuse(self, error: PhoneprovError) -> None:
        """Plan that the next ``begin`` raises this."""
        self._refusal = error

    def comes_back(self, mac: str, message: str = "The phone was seen.") -> None:
        """Complete all watches of this phone."""
        for waiting in self._waiting[mac]:
            if not waiting.done():
                waiting.set_result(message)

    def goes_missing(self, mac: str, error: PhoneprovError | None = None) -> None:
        """Fail all watches of this phone."""
        for waiting in self._waiting[mac]:
            if not waiting.done():
                waiting.set_exception(error or TimedOut("The phone was not seen."))

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:  # noqa: ARG002
        await asyncio.sleep(0)
        if self._refusal is not None:
            error, self._refusal = self._refusal, None
            raise error
        waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[phone.mac].append(waiting)
        self.watched.append(phone.mac)
        return _Watched(self, phone.mac, waiting)

    def leave(self, mac: str, waiting: asyncio.Future[str]) -> None:
        """End one watch."""
        self._waiting[mac].remove(waiting)
        self.watched.remove(mac)
        waiting.cancel()
        if not waiting.cancelled():
            waiting.exception()  # Retrieved, so that asyncio does not report it: no caller waits.


class _Watched(Watching):
    def __init__(self, watch: MemoryWatch, mac: str, waiting: asyncio.Future[str]) -> None:
        self._watch = watch
        self._mac = mac
        self._waiting = waiting

    async def returned(self, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._waiting)
        except TimeoutError:
            raise TimedOut(f"The phone was not seen within {seconds:g} s.") from None

    async def close(self) -> None:
        self._watch.leave(self._mac, self._waiting)


class MemoryReachability(Reachability):
    """Everything can be reached, unless ``at_server`` or ``at_phone`` says otherwise, and the file
    on the server is ``at_file``.
    ``asked`` lists the addresses and phones of the queries, in order."""

    def __init__(self) -> None:
        self.asked: list[str | Phone | None] = []
        self.at_server = Reach(True, "Logged in.", 0)
        self.at_phone = Reach(True, "The phone answers.", 0)
        self.at_file: ServerFile | None = None

    async def server(self, phone_ip: str | None, seconds: float = 3.0) -> Reach:  # noqa: ARG002
        self.asked.append(phone_ip)
        await asyncio.sleep(0)
        return self.at_server

    async def file(
        self,
        phone_ip: str | None,
        filename: str,  # noqa: ARG002
        limit: int,
    ) -> tuple[Reach, ServerFile | None]:
        found = self.at_file
        if found is not None and found.content is not None:
            found = ServerFile(found.content[:limit])
        return await self.server(phone_ip), found

    async def phone(self, phone: Phone) -> Reach:
        self.asked.append(phone)
        await asyncio.sleep(0)
        return self.at_phone
