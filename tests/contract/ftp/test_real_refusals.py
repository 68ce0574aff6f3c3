"""Refusals of real servers that need an action of the administrator (``make test-ftp-servers``)."""

import time
from ftplib import FTP, Error

import pytest

from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_real import REFUSING, UNPACKED, real_server
from support.ftp_rigs import LOOPBACK, Certificates

UPLOAD = Upload("127.0.0.1", "SEP001122334455.cnf.xml", b"new", "a-1")


@pytest.mark.parametrize("name", [name for name in REFUSING if name.endswith("tlsonly")])
async def test_login_without_tls_names_the_setting(name: str, certificates: Certificates) -> None:
    with real_server(name, certificates.server, certificates.ca) as (settings, folder):
        uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))

        with pytest.raises(Refused, match=r"requires TLS .*PHONEPROV_FTP_TLS=explicit"):
            await uploader.upload(UPLOAD)

        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in REFUSING if name.endswith("full")])
async def test_login_over_the_maximum_is_reported(name: str, certificates: Certificates) -> None:
    with real_server(name, certificates.server, certificates.ca) as (settings, folder):
        uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))

        with _logged_in(settings), pytest.raises(Refused, match="no more logins at the moment"):
            await uploader.upload(UPLOAD)

        assert list(folder.iterdir()) == []


@pytest.mark.skipif(not UNPACKED, reason="make test-ftp-servers")
@pytest.mark.parametrize(
    ("mode", "advice"),
    [
        ("nopasv", r"passive data connections .*pasv_enable=YES"),
        ("norename", r"refused to rename the file .*anon_other_write_enable=YES"),
        ("noupload", r"refused the temporary file .*anon_upload_enable=YES"),
    ],
)
async def test_missing_right_is_named(mode: str, advice: str, certificates: Certificates) -> None:
    with real_server(f"vsftpd-{mode}", certificates.server, certificates.ca) as (settings, folder):
        (folder / UPLOAD.filename).write_bytes(b"old")
        uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))

        with pytest.raises(Refused, match=advice):
            await uploader.upload(UPLOAD)

        assert (folder / UPLOAD.filename).read_bytes() == b"old"


def _logged_in(settings: FtpSettings) -> FTP:
    """Log in as the only client. The server may still count the readiness check."""
    deadline = time.monotonic() + 60
    while True:
        client = FTP()  # noqa: S321
        try:
            client.connect("127.0.0.1", settings.port, timeout=60)
            client.login(settings.user, settings.password)
        except (Error, EOFError):
            client.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return client
