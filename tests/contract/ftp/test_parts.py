"""Settings, the memory uploader and a session, which need no server."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.steps import FtpSettings, Steps
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.ports import Upload


async def test_file_over_the_limit_is_not_kept_in_memory() -> None:
    class Large(FtpSession):
        async def retrieve(self, command: str, doing: str, take: Callable[[bytes], None]) -> None:
            take(b"12345")
            take(b"6")

    session = Large(cast(Any, None), Steps("ftp.example", 1, 1))

    assert await session.read("a", 6, "replacing it") == b"123456"
    with pytest.raises(Refused, match=r"too large to be kept .* \(more than 5 bytes\)"):
        await session.read("a", 5, "replacing it")


@pytest.mark.parametrize(
    "wrong",
    [
        {"host": ""},
        {"host": "ftp://server"},
        {"host": "two words"},
        {"host": "a..b"},
        {"host": "user@server"},
        {"port": 0},
        {"port": 65536},
        {"user": "a\r\nDELE b"},
        {"password": "a\nb"},
        {"directory": "a\r\nb"},
        {"directory": "a\0b"},
        {"tls": "maybe"},
        {"timeout": 0},
        {"total": -1},
    ],
)
def test_invalid_setting_is_refused_without_its_value(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(ValueError, match="FTP") as caught:
        FtpSettings(**wrong)

    assert "DELE" not in str(caught.value)


@pytest.mark.parametrize("host", [None, "10.0.0.1", "::1", "ftp.example", "größe.example"])
def test_host_is_a_name_or_an_address(host: str | None) -> None:
    assert FtpSettings(host=host).host == host


async def test_planned_failures_occur_once_in_order_and_change_nothing() -> None:
    uploader = MemoryUploader(PhoneNetworks.parse("10.0.0.0/8"))
    upload = Upload("10.0.0.1", "a.xml", b"new", "a-1")
    uploader.files["10.0.0.1:21"] = {"a.xml": b"old"}
    uploader.fail_next(Refused("no"))
    uploader.fail_next(TimedOut("late"))

    for error in (Refused, TimedOut):
        with pytest.raises(error):
            await uploader.upload(upload)
        assert uploader.files == {"10.0.0.1:21": {"a.xml": b"old"}}
        assert uploader.uploads == []

    await uploader.upload(upload)

    assert uploader.files == {"10.0.0.1:21": {"a.xml": b"new"}}
    assert uploader.uploads == [upload]
