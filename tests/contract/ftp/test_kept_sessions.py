"""Uploads of a batch share a login; the outcome of each is as true as with a login of its own."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.ftp import uploader as module
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.devices.ports import Upload
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.ftp_faults import Fault
from support.ftp_rigs import LOOPBACK, settings_for
from support.ftp_scripted import ScriptedFtp
from support.polling import until

HOST = "127.0.0.1"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedFtp]:
    async with ScriptedFtp().serving() as serving:
        yield serving


@pytest.fixture
async def uploader(server: ScriptedFtp) -> AsyncIterator[FtpUploader]:
    made = FtpUploader(settings_for(server.port, host=HOST), PhoneNetworks.parse(LOOPBACK))
    yield made
    made.close()
    await server.quiet()


def of_batch(number: int) -> Upload:
    name, content = f"SEP00112233445{number}.cnf.xml", b"%d" % number * 1000
    return Upload(HOST, name, content, f"a-{number}", more_follow=True)


def assert_files(server: ScriptedFtp, *numbers: int) -> None:
    uploads = map(of_batch, numbers)
    assert server.files == {f"/{one.filename}": one.content for one in uploads}


async def test_uploads_of_a_batch_log_in_once(server: ScriptedFtp, uploader: FtpUploader) -> None:
    for number in range(4):
        await uploader.upload(of_batch(number))

    assert_files(server, 0, 1, 2, 3)
    assert (server.seen.count("USER"), server.seen.count("QUIT")) == (1, 0)
    assert server.seen.count("STOR") == server.seen.count("RNTO") == 4


async def test_uploads_at_once_use_as_many_sessions(
    server: ScriptedFtp, uploader: FtpUploader
) -> None:
    for first in (0, 3):
        await asyncio.gather(*(uploader.upload(of_batch(first + n)) for n in range(3)))

    assert_files(server, *range(6))
    assert server.seen.count("USER") == 3


async def test_upload_alone_has_a_login_of_its_own(server: ScriptedFtp) -> None:
    uploader = FtpUploader(settings_for(server.port, host=HOST), PhoneNetworks.parse(LOOPBACK))
    for attempt in ("a-1", "a-2"):
        await uploader.upload(Upload(HOST, "SEP001122334455.cnf.xml", b"new", attempt))
        await server.quiet()

    assert (server.seen.count("USER"), server.seen.count("QUIT")) == (2, 2)


async def test_servers_of_phones_are_left_after_each_upload(server: ScriptedFtp) -> None:
    uploader = FtpUploader(settings_for(server.port), PhoneNetworks.parse(LOOPBACK))
    for number in range(2):
        await uploader.upload(of_batch(number))
        await server.quiet()

    assert server.seen.count("USER") == 2


async def test_idle_session_is_left_in_time(
    server: ScriptedFtp, uploader: FtpUploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.05)
    await uploader.upload(of_batch(1))
    await server.quiet()
    assert server.seen[-1] == "QUIT"

    await uploader.upload(of_batch(2))

    assert_files(server, 1, 2)
    assert server.seen.count("USER") == 2


async def test_sessions_that_the_server_ended_are_replaced(
    server: ScriptedFtp, uploader: FtpUploader
) -> None:
    await asyncio.gather(*(uploader.upload(of_batch(n)) for n in range(3)))
    for connection in [*server.open]:
        server.forget(connection)

    for number in range(3, 6):
        await uploader.upload(of_batch(number))

    assert_files(server, *range(6))
    assert server.seen.count("USER") == 4
    assert server.seen.count("STOR") == server.seen.count("RNTO") == 6


@pytest.mark.parametrize("kind", ["refuse", "reset", "close", "deaf", "nonsense", "hang"])
async def test_session_that_gives_no_sign_of_life_is_replaced(
    server: ScriptedFtp, uploader: FtpUploader, kind: str
) -> None:
    server.faults = [Fault("TYPE", kind, 2, "421")]  # type: ignore[arg-type]
    await uploader.upload(of_batch(1))
    began = time.monotonic()
    await uploader.upload(of_batch(2))

    assert_files(server, 1, 2)
    assert (server.seen.count("USER"), server.seen.count("STOR")) == (2, 2)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("fault", "is_known"),
    [
        (Fault("STOR", "refuse", 2, "452"), True),
        (Fault("STOR", "reset", 2), True),
        (Fault("RETR", "other_bytes", 3), True),
        (Fault("RNTO", "refuse", 2, "451"), True),
        (Fault("RNTO", "reset", 2), False),
    ],
    ids=lambda value: f"{value.verb}-{value.kind}" if isinstance(value, Fault) else "",
)
async def test_failure_in_a_kept_session_has_its_true_outcome(
    server: ScriptedFtp, uploader: FtpUploader, fault: Fault, *, is_known: bool
) -> None:
    await uploader.upload(of_batch(1))
    server.faults = [fault, *([] if is_known else [Fault("USER", "refuse", 0, "421")])]
    with pytest.raises(PhoneprovError) as caught:
        await uploader.upload(of_batch(2))
    assert (caught.value.code != OUTCOME_UNKNOWN) == is_known
    logins = server.seen.count("USER")
    server.faults = []

    await uploader.upload(of_batch(3))

    assert server.files.keys() - {f"/.{of_batch(2).filename}.a-2.tmp"} == {
        f"/{of_batch(number).filename}" for number in (1, 3)
    }
    assert server.seen.count("USER") == logins + 1  # it is not used after a failure


async def test_cancelled_upload_ends_its_session(
    server: ScriptedFtp, uploader: FtpUploader
) -> None:
    await uploader.upload(of_batch(1))
    server.faults = [Fault("STOR", "hang", 2)]
    uploading = asyncio.ensure_future(uploader.upload(of_batch(2)))
    await until(lambda: server.seen.count("STOR") == 2)
    uploading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await uploading

    await server.quiet()


async def test_server_without_modes_is_asked_once(
    server: ScriptedFtp, uploader: FtpUploader
) -> None:
    server.lacks = {"MLST", "LIST"}
    for number in range(3):
        await uploader.upload(of_batch(number))

    assert (server.seen.count("MLST"), server.seen.count("LIST")) == (1, 1)


async def test_closed_uploader_leaves_its_sessions(
    server: ScriptedFtp, uploader: FtpUploader
) -> None:
    await asyncio.gather(*(uploader.upload(of_batch(n)) for n in range(3)))
    uploader.close()
    await server.quiet()

    assert server.seen.count("QUIT") == 3


async def test_stopped_service_leaves_its_sessions(server: ScriptedFtp, tmp_path: Path) -> None:
    settings = read_settings(
        {
            "PHONEPROV_DATA_DIR": str(tmp_path),
            "PHONEPROV_FTP_HOST": HOST,
            "PHONEPROV_FTP_PORT": str(server.port),
            "PHONEPROV_FTP_USER": server.user,
            "PHONEPROV_FTP_PASSWORD": server.password,
        }
    )
    container = prepare(settings)
    await create_database(settings)
    async with running(container):
        await container.uploader().upload(of_batch(1))
        assert len(server.open) == 1
    await server.quiet()

    assert server.seen[-1] == "QUIT"


async def test_refused_login_keeps_nothing(server: ScriptedFtp, uploader: FtpUploader) -> None:
    server.password = "another"
    with pytest.raises(Refused):
        await uploader.upload(of_batch(1))

    await server.quiet()
