"""The application and its real HTTP server, in a thread."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from phoneprov_adapters.composition.container import Container, container_with
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.memory.devices import MemoryManager, MemoryPhone, MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_http.main.server.asgi import app_over
from phoneprov_http.main.server.bounds import Connections
from phoneprov_http.main.server.protocol import BoundedProtocol
from phoneprov_http.main.server.sockets import bound
from support.data_folder import create_database
from support.keys import NEW_KEY, argon2_parameters

T = TypeVar("T")


class Served:
    """A running service, at ``url``, made by ``container``."""

    def __init__(self, url: str, container: Container, loop: asyncio.AbstractEventLoop) -> None:
        self.url = url
        self.container = container
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop of the service, with its database."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)


@contextmanager
def served(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Served]:
    """The service over SQLite in ``folder``, with memory adapters for phones and servers."""
    settings = read_settings({"PHONEPROV_DATA_DIR": str(folder), **(environment or {})})
    keys = SecretKeys.parse(NEW_KEY)
    hasher = Argon2Hasher(keys, workers=1, parameters=argon2_parameters())
    container = container_with(
        settings,
        keys,
        hasher=hasher,
        uploader=MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES)),
        phone_commands=MemoryPhone(),
        manager=MemoryManager(),
    )
    create_database(folder)
    # asyncio sets TCP_NODELAY only on sockets with the protocol TCP; socket.create_server has none.
    listener = bound("127.0.0.1", 0)
    listener.listen()
    server = uvicorn.Server(
        uvicorn.Config(
            app_over(container),
            http=partial(BoundedProtocol, bounds=Connections.within(4096)),  # type: ignore[arg-type]
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
        )
    )
    loops: list[asyncio.AbstractEventLoop] = []
    started = threading.Event()

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        task = asyncio.ensure_future(server.serve([listener]))
        while not server.started and not task.done():  # noqa: ASYNC110 - it tells by a flag alone
            await asyncio.sleep(0.01)
        started.set()
        await task

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    try:
        assert started.wait(120)
        assert server.started
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", container, loops[0])
    finally:
        server.should_exit = True
        thread.join(40)
        hasher.close()
        listener.close()
