"""Permissions of the new file: a server's umask does not take the phone's right to read it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_real import UNPACKED, real_server
from support.ftp_rigs import LOOPBACK, Certificates
from support.ftp_servers import PASSWORD, USER, BareHandler, PlainHandler, pyftpdlib_server

NAME = "SEP001122334455.cnf.xml"
UPLOAD = Upload("127.0.0.1", NAME, b"new", "a-1")
HANDLERS = {"plain": PlainHandler, "bare": BareHandler}


@pytest.fixture
def umask() -> Iterator[None]:
    """The server runs in a thread of this process, with vsftpd's own default umask."""
    before = os.umask(0o077)
    yield
    os.umask(before)


async def uploaded(settings: FtpSettings, folder: Path, old: int | None) -> tuple[int, str]:
    """The mode of the new file, and the notes."""
    target = folder / NAME
    if old is not None:
        target.write_bytes(b"old")
        target.chmod(old)
        if os.getuid() == 0:
            os.chown(target, folder.stat().st_uid, folder.stat().st_gid)
    done = await FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).upload(UPLOAD)
    assert target.read_bytes() == b"new"
    return target.stat().st_mode & 0o666, " ".join(done.notes)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize(
    ("old", "new"), [(0o644, 0o644), (0o640, 0o640), (0o664, 0o664), (None, 0o644)]
)
async def test_new_file_gets_the_mode_of_the_old_one(
    tmp_path: Path, handler: str, old: int | None, new: int
) -> None:
    with pyftpdlib_server(tmp_path, HANDLERS[handler], perm="elradfmwM") as port:
        settings = FtpSettings(port=port, user=USER, password=PASSWORD)

        assert await uploaded(settings, tmp_path, old) == (new, "")


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("old", [0o644, 0o600, None])
async def test_file_that_only_its_owner_can_read_is_noted(
    tmp_path: Path, handler: str, old: int | None
) -> None:
    with pyftpdlib_server(tmp_path, HANDLERS[handler]) as port:
        settings = FtpSettings(port=port, user=USER, password=PASSWORD)

        mode, notes = await uploaded(settings, tmp_path, old)

    assert mode == 0o600
    assert "0600" in notes
    assert "local_umask=022" in notes


class IgnoringHandler(PlainHandler):
    """A server that answers SITE CHMOD with success and changes nothing."""

    def ftp_SITE_CHMOD(self, path: str, mode: str) -> None:  # noqa: N802
        self.respond("200 SITE CHMOD successful.")


@pytest.mark.usefixtures("umask")
async def test_mode_that_the_server_only_claims_to_have_changed_is_noted(tmp_path: Path) -> None:
    with pyftpdlib_server(tmp_path, IgnoringHandler, perm="elradfmwM") as port:
        settings = FtpSettings(port=port, user=USER, password=PASSWORD)

        mode, notes = await uploaded(settings, tmp_path, 0o644)

    assert (mode, "has the mode 0600, the old file had 0644" in notes) == (0o600, True)


async def test_readable_file_has_no_note(tmp_path: Path) -> None:
    with pyftpdlib_server(tmp_path, PlainHandler) as port:
        settings = FtpSettings(port=port, user=USER, password=PASSWORD)

        assert await uploaded(settings, tmp_path, None) == (0o644, "")


@pytest.mark.skipif(not UNPACKED, reason="make test-ftp-servers")
@pytest.mark.parametrize(
    ("server", "mode"), [("vsftpd", 0o600), ("proftpd", 0o644), ("pureftpd", 0o644)]
)
async def test_real_server_with_umask_077(
    server: str, mode: int, certificates: Certificates
) -> None:
    """vsftpd refuses SITE CHMOD to anonymous users."""
    rig = real_server(f"{server}-umask", certificates.server, certificates.ca)
    with rig as (settings, folder):
        for old in (None, 0o644):
            found, notes = await uploaded(settings, folder, old)

            assert found == mode
            assert ("local_umask=022" in notes) == (mode == 0o600)
