"""The contract of ConfigUploader, over every uploader and every kind of server."""

from __future__ import annotations

import asyncio
import hashlib
from time import perf_counter

import pytest

from phoneprov_core.kernel.errors import Conflict, Refused
from phoneprov_core.profiles.ports import Upload
from support.ftp_rigs import LOOPBACK, Rig

NAME = "SEP001122334455.cnf.xml"
OLD = b"<old>" + b"o" * 20_000 + b"</old>"
PROFILE = ("<device>" + "Größe ☎ 電話\n" * 1300 + "</device>").encode()
LARGEST = bytes(range(256)) * 2000


def upload(
    content: bytes, *, name: str = NAME, attempt: str = "a-1", ip: str | None = "127.0.0.1"
) -> Upload:
    return Upload(ip, name, content, attempt)


@pytest.mark.parametrize("content", [b"", b"x", PROFILE, LARGEST], ids=len)
async def test_the_exact_bytes_are_there_and_nothing_beside_them(rig: Rig, content: bytes) -> None:
    uploaded = await rig.uploader.upload(upload(content))

    assert rig.read() == {NAME: content}
    assert uploaded.place == f"{rig.server}/{NAME}"
    assert uploaded.size == len(content)
    assert uploaded.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", ["a", "x.y.z", "A_b-c.1.XML", "SEP" + "0" * 56 + ".xml"])
async def test_any_plain_file_name_will_do(rig: Rig, name: str) -> None:
    await rig.uploader.upload(upload(PROFILE, name=name))

    assert rig.read() == {name: PROFILE}


async def test_a_file_of_the_same_name_is_replaced_and_others_are_not(rig: Rig) -> None:
    rig.write(NAME, OLD)
    rig.write("other.xml", OLD)

    await rig.uploader.upload(upload(PROFILE))

    assert rig.read() == {NAME: PROFILE, "other.xml": OLD}


async def test_content_that_is_there_already_can_be_uploaded_again(rig: Rig) -> None:
    for attempt in ("a-1", "a-2"):
        uploaded = await rig.uploader.upload(upload(PROFILE, attempt=attempt))

        assert uploaded.size == len(PROFILE)
        assert rig.read() == {NAME: PROFILE}


async def test_what_earlier_attempts_for_the_name_left_behind_is_removed(rig: Rig) -> None:
    others = {".other.xml.a-1.tmp", f".{NAME}.more.a-1.tmp", f"{NAME}.tmp", f".{NAME}.a-1"}
    for name in {f".{NAME}.dead-1.tmp", f".{NAME}.dead-2-old.tmp", *others}:
        rig.write(name, b"left behind")

    await rig.uploader.upload(upload(PROFILE))

    assert set(rig.read()) == {NAME, *others}


async def test_uploads_of_several_files_do_not_meet(rig: Rig) -> None:
    wanted = {f"SEP{number:012d}.cnf.xml": PROFILE + bytes([number]) for number in range(8)}
    uploader = rig.uploader

    await asyncio.gather(
        *(uploader.upload(upload(content, name=name)) for name, content in wanted.items())
    )

    assert rig.read() == wanted


async def test_a_cancelled_upload_leaves_the_old_file_or_the_new_one(rig: Rig) -> None:
    uploader = rig.uploader
    rig.write(NAME, OLD)
    started = perf_counter()
    await uploader.upload(upload(PROFILE, attempt="a-0"))
    whole = perf_counter() - started

    for part in range(12):
        rig.write(NAME, OLD)
        task = asyncio.ensure_future(uploader.upload(upload(PROFILE, attempt=f"c-{part}")))
        await asyncio.sleep(whole * part / 12)
        task.cancel()
        await asyncio.wait({task})

        assert rig.read()[NAME] in {OLD, PROFILE}

    await uploader.upload(upload(PROFILE, attempt="a-2"))

    assert rig.read()[NAME] == PROFILE


async def test_a_phone_without_an_address_is_a_conflict(rig: Rig) -> None:
    with pytest.raises(Conflict) as caught:
        await rig.uploader.upload(upload(PROFILE, ip=None))

    assert caught.value.code == "no_address"


async def test_an_address_outside_the_phone_networks_is_a_conflict(rig: Rig) -> None:
    with pytest.raises(Conflict) as caught:
        await rig.make("10.0.0.0/8", None).upload(upload(PROFILE))

    assert caught.value.code == "address_not_allowed"
    assert rig.read() == {}


async def test_a_mapped_address_is_called_as_the_one_it_carries(rig: Rig) -> None:
    uploaded = await rig.uploader.upload(upload(PROFILE, ip="::ffff:127.0.0.1"))

    assert uploaded.place == f"{rig.server}/{NAME}"


@pytest.mark.parametrize("ip", [None, "192.0.2.1"])
async def test_a_configured_server_is_taken_whatever_the_phone_s_address(
    rig: Rig, ip: str | None
) -> None:
    uploaded = await rig.make("10.0.0.0/8", "127.0.0.1").upload(upload(PROFILE, ip=ip))

    assert rig.read() == {NAME: PROFILE}
    assert uploaded.place == f"{rig.server}/{NAME}"


@pytest.mark.parametrize("name", ["", "..", "../a.xml", "a/b", "a b", "a\r\nDELE b", "ä.xml"])
async def test_a_name_that_is_no_plain_segment_goes_nowhere(rig: Rig, name: str) -> None:
    for bad in (upload(PROFILE, name=name), upload(PROFILE, attempt=name)):
        with pytest.raises(Refused):
            await rig.make(LOOPBACK, None).upload(bad)

    assert rig.read() == {}
