"""The FTP servers of two libraries, serving a folder on loopback to the user phone/s3cret."""

import asyncio
import contextlib
import logging
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import aioftp

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # It uses asyncore.
    # It has no types.
    handlers: Any = import_module("pyftpdlib.handlers")
    authorizers: Any = import_module("pyftpdlib.authorizers")
    ioloops: Any = import_module("pyftpdlib.ioloop")
    servers: Any = import_module("pyftpdlib.servers")

FTPHandler: Any = handlers.FTPHandler
TlsFTPHandler: Any = handlers.TLS_FTPHandler

USER, PASSWORD = "phone", "s3cret"


@contextlib.asynccontextmanager
async def aioftp_server(folder: Path, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The server of aioftp, with implicit TLS if given; yields its port.

    It starts TLS on a data connection at once, has no SIZE and does not rename onto an existing
    file. Errors of its tasks after the end of a connection are ignored.
    """
    asyncio.get_running_loop().set_exception_handler(_without_server_tasks)
    user = aioftp.User(USER, PASSWORD, base_path=folder)
    server = aioftp.Server([user], ssl=tls)
    await server.start("127.0.0.1", 0)
    try:
        yield server.server.sockets[0].getsockname()[1]
    finally:
        await server.close()


def _without_server_tasks(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if "aioftp/server.py" not in repr(context.get("future")):
        loop.default_exception_handler(context)


class PlainHandler(FTPHandler):  # type: ignore[misc]
    """pyftpdlib without changes."""


class BareHandler(FTPHandler):  # type: ignore[misc]
    """An old server: no extended passive mode, no sizes, no machine listings."""

    proto_cmds = {
        verb: facts
        for verb, facts in FTPHandler.proto_cmds.items()
        if verb not in {"EPSV", "EPRT", "SIZE", "MDTM", "MLSD", "MLST", "FEAT"}
    }


class StubbornHandler(FTPHandler):  # type: ignore[misc]
    """A server that does not rename onto an existing file."""

    def ftp_RNTO(self, path: str) -> None:  # noqa: N802
        if Path(path).exists():
            self.respond("553 File exists.")
        else:
            super().ftp_RNTO(path)


class TlsHandler(TlsFTPHandler):  # type: ignore[misc]
    """Explicit TLS, required for commands and data."""

    tls_control_required = True
    tls_data_required = True


class ImplicitTlsHandler(TlsHandler):
    """TLS from the first byte."""

    def handle(self) -> None:
        self.secure_connection(self.ssl_context)

    def handle_ssl_established(self) -> None:
        TlsFTPHandler.handle(self)


@contextlib.contextmanager
def pyftpdlib_server(
    folder: Path,
    handler: type[Any],
    certificate: Path | None = None,
    passive_ports: Sequence[int] | None = None,
    perm: str = "elradfmw",
) -> Iterator[int]:
    """pyftpdlib in a thread; yields its port. ``certificate`` is a PEM file with key and
    certificate, for ``TlsHandler``. Data connections use ``passive_ports``, or any port. ``perm``
    with M permits SITE CHMOD."""
    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    authorizer = authorizers.DummyAuthorizer()
    authorizer.add_user(USER, PASSWORD, str(folder), perm=perm)
    facts = {
        "authorizer": authorizer,
        "certfile": certificate and str(certificate),
        "passive_ports": passive_ports,
    }
    own = type(handler.__name__, (handler,), facts)
    server = servers.FTPServer(("127.0.0.1", 0), own, ioloop=ioloops.IOLoop())
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            server.serve_forever(timeout=0.01, blocking=False, handle_exit=False)
        server.close_all()
        server.ioloop.close()

    thread = threading.Thread(target=run, name="pyftpdlib")
    thread.start()
    try:
        yield int(server.address[1])
    finally:
        stop.set()
        thread.join()
