"""The outcome of an upload whose connection is reset after any byte agrees with the server's files.

The ordinary run resets at the ends of replies, ``PHONEPROV_TESTS=long`` at every byte.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import uvloop

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.devices.ports import Upload
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.ftp_cut import CuttingProxy, Scope, free_ports
from support.ftp_rigs import LOOPBACK, Certificates, settings_for
from support.ftp_servers import (
    ImplicitTlsHandler,
    PlainHandler,
    StubbornHandler,
    TlsHandler,
    pyftpdlib_server,
)
from support.scale import long_only, note, rounds

NAME = "SEP001122334455.cnf.xml"
OLD, NEW = b"old" * 40, b"new!" * 60
PROXY, SERVER = "127.0.0.2", "127.0.0.1"
SETTLED_SECONDS = 20.0
MOST_REPORTED = 5
SPARSE = {"one": 1, "all": 5}

SERVERS = [
    (PlainHandler, "off"),
    (TlsHandler, "explicit"),
    pytest.param(ImplicitTlsHandler, "implicit", marks=long_only),
    (StubbornHandler, "off"),
]


# pyftpdlib leaves the file of a broken transfer open until it is garbage-collected.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*FileIO")
@pytest.mark.parametrize("scope", ["one", "all"])
@pytest.mark.parametrize(("handler", "tls"), SERVERS)
def test_upload_reset_after_any_byte_leaves_what_is_reported(
    handler: type[Any], tls: Tls, scope: Scope, tmp_path: Path, certificates: Certificates
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    # A server needs a moment to release the port of a reset connection.
    ports = free_ports(24, PROXY, SERVER)
    certificate = None
    if tls != "off":
        certificates = Certificates.make(tmp_path, PROXY)
        certificate = certificates.server

    async def upload(port: int, after: int) -> tuple[str, list[int]]:
        """The outcome of an upload that is reset after this number of bytes, and the ends of the
        forwarded blocks."""
        for file in folder.iterdir():
            file.unlink()
        (folder / NAME).write_bytes(OLD)
        proxy = CuttingProxy(after, scope)
        settings = settings_for(port, tls, certificates.ca, host=PROXY)
        async with proxy.serving(PROXY, SERVER, [port, *ports]):
            uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))
            try:
                await uploader.upload(Upload(None, NAME, NEW, "a-1"))
            except PhoneprovError as error:
                outcome = "unknown" if error.code == OUTCOME_UNKNOWN else "failed"
                outcome = f"{outcome} {error.message}"
            else:
                outcome = "ok"
        return outcome, proxy.ends

    async def wrong(outcome: str) -> str | None:
        """The contradictions to the outcome; a server may need a moment to close its files."""
        wanted = {"ok": NEW, "failed": OLD}.get(outcome.partition(" ")[0])
        deadline = asyncio.get_running_loop().time() + SETTLED_SECONDS
        while True:
            files = {file.name: file.read_bytes() for file in folder.iterdir()}
            if wanted is not None and files == {NAME: wanted}:
                return None
            if asyncio.get_running_loop().time() > deadline or wanted is None:
                return f"{outcome}: { ({name: len(file) for name, file in files.items()}) }"
            await asyncio.sleep(0.01)

    async def run_all_cuts(port: int) -> list[str]:
        outcome, ends = await upload(port, 1 << 30)
        assert outcome == "ok"
        size = ends[-1]
        some = ends[:: SPARSE[scope]]
        found, outcomes = [], Counter[str]()
        for after in rounds(some, range(1, size)):
            outcome, _ = await upload(port, after)
            outcomes[outcome.partition(" ")[0]] += 1
            if reason := await wrong(outcome):
                found.append(f"after {after} of {size} bytes: {reason}")
                if len(found) == MOST_REPORTED:
                    break
        note(f"{handler.__name__} {tls}, {scope}: {size} bytes, {dict(outcomes)}")
        return found

    with (
        pyftpdlib_server(folder, handler, certificate, ports) as port,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        assert runner.run(run_all_cuts(port)) == []
