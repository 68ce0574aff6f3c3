"""A folder is listed once for all running uploads, and no file is missed."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_servers import PASSWORD, USER, FTPHandler, pyftpdlib_server

PHONES = 12


class Listing(FTPHandler):  # type: ignore[misc]
    """An uploader that counts its listings."""

    listings = 0

    def ftp_MLSD(self, path: str) -> Any:  # noqa: N802
        Listing.listings += 1
        return super().ftp_MLSD(path)


@pytest.fixture
def uploader(tmp_path: Path) -> Iterator[FtpUploader]:
    Listing.listings = 0
    with pyftpdlib_server(tmp_path, Listing) as port:
        settings = FtpSettings(host="127.0.0.1", port=port, user=USER, password=PASSWORD)
        yield FtpUploader(settings, PhoneNetworks.parse(PRIVATE_RANGES))


def an_upload(number: int, attempt: str = "now") -> Upload:
    return Upload(None, f"SEP{number:012X}.cnf.xml", b"<device/>", f"{attempt}-{number}")


def leave(folder: Path, number: int, attempt: str) -> None:
    """The temporary file of a killed attempt."""
    (folder / f".{an_upload(number).filename}.{attempt}.tmp").write_bytes(b"<dev")


async def test_many_uploads_share_listings_and_leave_nothing(
    uploader: FtpUploader, tmp_path: Path
) -> None:
    for number in range(PHONES):
        leave(tmp_path, number, "killed")

    done = await asyncio.gather(*(uploader.upload(an_upload(n)) for n in range(PHONES)))

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        an_upload(number).filename for number in range(PHONES)
    )
    assert {uploaded.notes for uploaded in done} == {()}
    assert 1 <= Listing.listings < PHONES


async def test_uploads_of_a_batch_share_a_listing_one_after_the_other(
    uploader: FtpUploader, tmp_path: Path
) -> None:
    for number in range(PHONES):
        leave(tmp_path, number, "killed")
    for number in range(PHONES):
        await uploader.upload(replace(an_upload(number), more_follow=True))
    uploader.close()

    assert len([*tmp_path.iterdir()]) == PHONES
    assert Listing.listings == 1


async def test_leftovers_since_the_last_listing_are_found(
    uploader: FtpUploader, tmp_path: Path
) -> None:
    for attempt in ("one", "two", "three"):
        leave(tmp_path, 1, f"killed-{attempt}")
        await uploader.upload(an_upload(1, attempt))
        assert [path.name for path in tmp_path.iterdir()] == [an_upload(1).filename]
    assert Listing.listings == 3
