"""The contract kit over every uploader and every kind of server."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from phoneprov_adapters.testing import PhoneUploaderContract, UploaderContract, UploaderRig
from phoneprov_adapters.testing.uploaders import NAME, PROFILE, an_upload
from phoneprov_core.switching.devices.ports import ConfigUploader
from support.ftp_rigs import Rig
from support.ftp_servers import PASSWORD


class TestUploaders(UploaderContract, PhoneUploaderContract):
    """In memory, and over FTP to several kinds of servers."""

    @pytest_asyncio.fixture(name="rig")
    async def uploader_rig(self, server_rig: Rig) -> AsyncIterator[UploaderRig]:
        async with server_rig.silent() as silent, server_rig.lying() as lying:
            yield UploaderRig(
                server_rig.uploader,
                server_rig.server,
                server_rig.read,
                server_rig.write,
                server_rig.broken(),
                silent,
                lying,
                leftover=lambda name: server_rig.leftover(name, "dead-1"),
                secrets=(PASSWORD,),
            )

    @pytest.fixture
    def elsewhere(self, server_rig: Rig) -> ConfigUploader:
        return server_rig.make("10.0.0.0/8", None)


@pytest.mark.parametrize("ip", [None, "192.0.2.1"])
async def test_configured_server_is_used_with_any_phone_address(
    server_rig: Rig, ip: str | None
) -> None:
    uploader = server_rig.make("10.0.0.0/8", "127.0.0.1")

    uploaded = await uploader.upload(an_upload(PROFILE, ip=ip))

    assert server_rig.read() == {NAME: PROFILE}
    assert uploaded.place == f"{server_rig.server}/{NAME}"


async def test_leftover_of_an_interrupted_rename_is_removed(server_rig: Rig) -> None:
    others = {f".{NAME}.more.a-1.tmp", f".{NAME}.a-1"}
    for name in {server_rig.leftover(NAME, "dead-2-old"), *others}:
        server_rig.write(name, b"leftover")

    await server_rig.uploader.upload(an_upload(PROFILE))

    assert set(server_rig.read()) == {NAME, *others}
