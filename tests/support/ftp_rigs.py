"""Uploaders and their servers, for suites that run over all of them."""

import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
import trustme

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.ports import ConfigUploader
from support.ftp_faults import Fault
from support.ftp_real import REAL, real_server
from support.ftp_scripted import ScriptedFtp
from support.ftp_servers import (
    PASSWORD,
    USER,
    BareHandler,
    PlainHandler,
    StubbornHandler,
    TlsHandler,
    aioftp_server,
    pyftpdlib_server,
)

LOOPBACK = "127.0.0.0/8"


@dataclass(frozen=True)
class Certificates:
    """An authority, and a certificate for loopback that it signed."""

    ca: Path
    server: Path

    @classmethod
    def make(cls, folder: Path, *names: str) -> Self:
        authority = trustme.CA()
        certificate = authority.issue_cert(*(names or ("127.0.0.1", "::1", "localhost")))
        made = cls(folder / "ca.pem", folder / "server.pem")
        authority.cert_pem.write_to_path(str(made.ca))
        certificate.private_key_and_cert_chain_pem.write_to_path(str(made.server))
        return made

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server)
        return context


@dataclass(frozen=True)
class Rig:
    """``make(networks, host)`` returns the uploader; ``read`` and ``write`` access the folder
    directly. ``server`` is the ``host:port`` at the start of each place."""

    server: str
    make: Callable[[str, str | None], ConfigUploader]
    read: Callable[[], dict[str, bytes]]
    write: Callable[[str, bytes], object]
    leftovers: str = ".{}.{}.tmp"

    def leftover(self, filename: str, attempt: str) -> str:
        """The name of a temporary file of an earlier attempt."""
        return self.leftovers.format(filename, attempt)

    @property
    def uploader(self) -> ConfigUploader:
        return self.make(LOOPBACK, None)

    def broken(self) -> ConfigUploader:
        """An uploader that fails as the port describes."""
        uploader = self.make(LOOPBACK, None)
        if isinstance(uploader, MemoryUploader):
            uploader.fail_next(Refused("The server refused the upload (uploading)."))
            return uploader
        # No server listens there.
        return FtpUploader(settings_for(1, timeout=2), PhoneNetworks.parse(LOOPBACK))

    @contextlib.asynccontextmanager
    async def silent(self) -> AsyncIterator[ConfigUploader]:
        """An uploader whose server never responds."""
        uploader = self.make(LOOPBACK, None)
        if isinstance(uploader, MemoryUploader):
            uploader.fail_next(TimedOut("The server did not answer in time (uploading)."))
            yield uploader
            return
        with socket.create_server(("127.0.0.1", 0)) as mute:
            settings = settings_for(mute.getsockname()[1], timeout=0.2)
            yield FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))

    @contextlib.asynccontextmanager
    async def lying(self) -> AsyncIterator[ConfigUploader]:
        """An uploader whose server returns other content than was uploaded."""
        uploader = self.make(LOOPBACK, None)
        if isinstance(uploader, MemoryUploader):
            uploader.fail_next(Refused("The server does not hold what was sent (verifying)."))
            yield uploader
            return
        server = ScriptedFtp(None)
        server.faults = [Fault("RETR", "other_bytes", 0)]
        async with server.serving():
            yield FtpUploader(settings_for(server.port), PhoneNetworks.parse(LOOPBACK))


def settings_for(port: int, tls: Tls = "off", ca: Path | None = None, **more: Any) -> FtpSettings:
    """Settings of a server with the user phone; ``more`` are further fields."""
    return FtpSettings(
        port=port, user=USER, password=PASSWORD, tls=tls, tls_ca=str(ca) if ca else None, **more
    )


def _ftp_maker(port: int, tls: Tls, ca: Path) -> Callable[[str, str | None], ConfigUploader]:
    def make(networks: str, host: str | None) -> ConfigUploader:
        return FtpUploader(settings_for(port, tls, ca, host=host), PhoneNetworks.parse(networks))

    return make


def _disk_rig(port: int, folder: Path, tls: Tls, ca: Path) -> Rig:
    return Rig(
        f"127.0.0.1:{port}",
        _ftp_maker(port, tls, ca),
        lambda: _files_in(folder),
        lambda name, content: (folder / name).write_bytes(content),
    )


def _files_in(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for path in folder.iterdir():
        # A server in another thread may rename the file between the listing and the read.
        with contextlib.suppress(FileNotFoundError):
            files[path.name] = path.read_bytes()
    return files


def _written_for_all(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    file.chmod(0o666)


def _memory_rig() -> Rig:
    files: dict[str, dict[str, bytes]] = {"127.0.0.1:21": {}}

    def make(networks: str, host: str | None) -> ConfigUploader:
        uploader = MemoryUploader(PhoneNetworks.parse(networks), host=host)
        uploader.files = files
        return uploader

    folder = files["127.0.0.1:21"]
    return Rig("127.0.0.1:21", make, lambda: dict(folder), folder.__setitem__, "{}")


def _scripted_rig(server: ScriptedFtp, tls: Tls, ca: Path) -> Rig:
    def write(name: str, content: bytes) -> None:
        server.files[f"/{name}"] = content

    return Rig(
        f"127.0.0.1:{server.port}",
        _ftp_maker(server.port, tls, ca),
        lambda: {path.removeprefix("/"): content for path, content in server.files.items()},
        write,
    )


RIGS = (
    "memory",
    "aioftp",
    "aioftp-implicit",
    "pyftpdlib",
    "pyftpdlib-explicit",
    "pyftpdlib-bare",
    "pyftpdlib-stubborn",
    "late-tls-explicit",
    "late-tls-implicit",
    "late-tls-stubborn",
    *REAL,
)


@contextlib.asynccontextmanager
async def rig_of(name: str, folder: Path, certificates: Certificates) -> AsyncIterator[Rig]:
    """The rig of this name with an empty folder."""
    ca = certificates.ca
    if name == "memory":
        yield _memory_rig()
    elif name.startswith("aioftp"):
        implicit = name.endswith("implicit")
        async with aioftp_server(folder, certificates.context() if implicit else None) as port:
            yield _disk_rig(port, folder, "implicit" if implicit else "off", ca)
    elif name.startswith("pyftpdlib"):
        explicit = name.endswith("explicit")
        handler = {
            "pyftpdlib": PlainHandler,
            "pyftpdlib-explicit": TlsHandler,
            "pyftpdlib-bare": BareHandler,
            "pyftpdlib-stubborn": StubbornHandler,
        }[name]
        with pyftpdlib_server(folder, handler, certificates.server if explicit else None) as port:
            yield _disk_rig(port, folder, "explicit" if explicit else "off", ca)
    elif name in REAL:
        with real_server(name, certificates.server, ca) as (settings, served):
            yield Rig(
                f"127.0.0.1:{settings.port}" + settings.path_of("").rstrip("/"),
                lambda networks, host: FtpUploader(
                    msgspec.structs.replace(settings, host=host), PhoneNetworks.parse(networks)
                ),
                lambda: _files_in(served),
                lambda name, content: _written_for_all(served / name, content),
                leftovers="{}.phoneprov-{}.tmp" if name.endswith("nodots") else ".{}.{}.tmp",
            )
    else:
        implicit = name.endswith("implicit")
        server = ScriptedFtp(certificates.context(), implicit=implicit)
        server.renames_over = not name.endswith("stubborn")
        async with server.serving():
            yield _scripted_rig(server, "implicit" if implicit else "explicit", ca)
