"""Real servers whose disk is full (``make test-ftp-servers``)."""

import pytest

from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_real import REAL, real_server
from support.ftp_rigs import LOOPBACK, Certificates

NAME = "SEP001122334455.cnf.xml"
OLD = b"old" * 7000


@pytest.mark.parametrize("size", [60_000, 500_000])
@pytest.mark.parametrize("name", REAL)
async def test_upload_full_disk_is_reported_and_leaves_the_old_file(
    name: str, size: int, certificates: Certificates
) -> None:
    with real_server(name, certificates.server, certificates.ca, "64k") as (settings, folder):
        (folder / NAME).write_bytes(OLD)
        uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))

        with pytest.raises(Refused, match="disk is full"):
            await uploader.upload(Upload("127.0.0.1", NAME, b"x" * size, "a-1"))

        assert {file.name: file.read_bytes() for file in folder.iterdir()} == {NAME: OLD}
