"""The devices of a switch, as a test sets them: phones, their calls, a manager interface, and the
servers that store their files."""

import asyncio
import hashlib
from collections import defaultdict, deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager

from phoneprov_adapters.runtime.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.deployments.observation import DeviceInformation, PhoneInformation
from phoneprov_core.switching.devices.execute import execute_body, require_phone
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    FilesOnServer,
    KeyPress,
    ManagerAction,
    ManagerInterface,
    NoAddress,
    PhoneCommands,
    ReadsFiles,
    Upload,
    Uploaded,
)
from phoneprov_core.switching.devices.restart import require_single_lines


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
        self, phone_ip: str, commands: Sequence[KeyPress], mac: str | None = None
    ) -> None:
        address = self._networks.allowed(phone_ip)
        for command in commands:
            execute_body(command.uri)
        async with self._locks[address]:
            information = self.tells.get(address, DeviceInformation())
            if mac is not None and isinstance(information, DeviceInformation):
                require_phone(mac, information.mac)
            for command in commands:
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

    async def perform(self, action: ManagerAction, phone_ip: str | None = None) -> None:  # noqa: ARG002
        require_single_lines(action)
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.popleft()
        endpoint = dict(action.fields).get("Endpoint") if action.name == "PJSIPNotify" else None
        if endpoint in self.unregistered:
            raise Refused("The phone is not registered with Asterisk; restart it by hand.")
        if endpoint in self.elsewhere:
            raise Refused("Its endpoint in Asterisk has a contact at another address.")
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
        yield MemoryFiles(self.files.setdefault(server, {}))


class MemoryFiles(FilesOnServer):
    """The files of a server; a listing shows their sizes."""

    def __init__(self, folder: dict[str, bytes]) -> None:
        self._folder = folder

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        await asyncio.sleep(0)
        return {name: str(len(self._folder[name])) for name in names if name in self._folder}

    async def read(self, name: str, limit: int) -> bytes | None:
        await asyncio.sleep(0)
        content = self._folder.get(name)
        return None if content is None else content[:limit]
