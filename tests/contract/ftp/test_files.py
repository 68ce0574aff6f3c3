"""The contract of ``FilesOnServer``, over every kind of server, and faults of FTP servers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from time import perf_counter

import pytest

from phoneprov_adapters.ftp import listings as ftp_files
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.serving.uploader import ServedUploader
from phoneprov_adapters.testing.uploaders import IP, NAME, OLD, PROFILE, an_upload
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.switching.devices.ports import FilesOnServer, ReadsFiles
from support.ftp_faults import Fault
from support.ftp_rigs import LOOPBACK, Certificates, Rig, settings_for
from support.ftp_scripted import ScriptedFtp
from support.ftp_servers import PASSWORD
from support.stores import DATABASES

OTHER = "SEP665544332211.cnf.xml"
NAMES = frozenset({NAME, OTHER})


def reader_of(rig: Rig) -> ReadsFiles:
    # A phone's own server is not looked at: a look carries no login.
    uploader = rig.make(LOOPBACK, "127.0.0.1")
    assert isinstance(uploader, ReadsFiles)
    return uploader


async def test_listing_shows_a_change_and_no_other_file(server_rig: Rig) -> None:
    rig, reader = server_rig, reader_of(server_rig)
    rig.write(NAME, OLD)
    rig.write("else.xml", OLD)

    async def listed() -> Mapping[str, str]:
        async with reader.opened(IP) as files:
            found = await files.listing(NAMES)
        assert found is not None
        return found

    first = await listed()
    assert set(first) == {NAME}
    assert await listed() == first
    rig.write(NAME, PROFILE)
    rig.write(OTHER, OLD)
    second = await listed()
    assert set(second) == NAMES
    assert second[NAME] != first[NAME]


async def test_content_is_read_as_far_as_wanted_and_nothing_is_changed(server_rig: Rig) -> None:
    server_rig.write(NAME, OLD)

    async with reader_of(server_rig).opened(IP) as files:
        for limit in (len(OLD), len(OLD) - 1, 1, len(OLD) + 1, 10**6):
            assert await files.read(NAME, limit) == OLD[:limit]
        assert await files.read(OTHER, 9) is None
        assert await files.read(NAME, 5) == OLD[:5]
    assert server_rig.read() == {NAME: OLD}


async def test_server_is_that_of_the_uploads(server_rig: Rig) -> None:
    place = (await server_rig.uploader.upload(an_upload(PROFILE))).place

    assert place.startswith(reader_of(server_rig).server_of(IP))
    elsewhere = server_rig.make("10.0.0.0/8", None)
    assert isinstance(elsewhere, ReadsFiles)
    for ip in (IP, None):
        with pytest.raises(Conflict):
            elsewhere.server_of(ip)
        with pytest.raises(Conflict):
            async with elsewhere.opened(ip):
                pass


async def test_served_files_are_listed_and_read(tmp_path: Path) -> None:
    async with DATABASES["sqlite"](tmp_path) as database:
        uploader = ServedUploader(database)
        await uploader.upload(an_upload(OLD))
        async with uploader.opened(None) as files:
            assert await files.listing({NAME, OTHER, NAME.lower()}) == {
                NAME: "a-1",
                NAME.lower(): "a-1",
            }
            assert await files.read(NAME, 3) == OLD[:3]
            assert await files.read(OTHER, 3) is None


@pytest.fixture
async def server() -> AsyncIterator[ScriptedFtp]:
    async with ScriptedFtp().serving() as serving:
        serving.files = {f"/{NAME}": OLD}
        yield serving


def reader(server: ScriptedFtp, timeout: float = 0.3) -> FtpUploader:
    settings = settings_for(server.port, host=IP, timeout=timeout, total=2 * timeout)
    return FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))


@pytest.mark.parametrize("verb", ["GREETING", "PASS", "EPSV", "MLSD", "RETR"])
@pytest.mark.parametrize("kind", ["hang", "reset", "close", "nonsense", "stall", "reset_data"])
async def test_faults_end_in_time_without_the_words_of_the_server(
    server: ScriptedFtp, verb: str, kind: str
) -> None:
    server.faults = [Fault(verb, kind, 0)]  # type: ignore[arg-type]
    began = perf_counter()

    async def all_of_it() -> object:
        async with reader(server).opened(IP) as files:
            return await files.listing(NAMES), await files.read(NAME, 9)

    if kind in {"stall", "reset_data"} and verb not in {"MLSD", "RETR"}:
        await all_of_it()  # No fault of this verb.
    else:
        with pytest.raises((Refused, TimedOut)) as caught:
            await all_of_it()
        assert PASSWORD not in caught.value.message
        await server.quiet()
    assert perf_counter() - began < 5


@pytest.mark.parametrize(
    ("lacks", "refused", "stamp"),
    [
        (set(), [], f"type=file;size={len(OLD)};"),
        ({"MLSD"}, [], f"-rw-r--r-- 1 ftp ftp {len(OLD)} Jan 01 00:00"),
        (set(), [Fault("MLSD", "refuse", 0)], f"-rw-r--r-- 1 ftp ftp {len(OLD)} Jan 01 00:00"),
        ({"MLSD", "LIST"}, [], None),
    ],
)
async def test_kind_of_listing_that_a_server_has_is_used(
    server: ScriptedFtp, lacks: set[str], refused: list[Fault], stamp: str | None
) -> None:
    server.lacks, server.faults = lacks, refused

    async with reader(server).opened(IP) as files:
        assert await files.listing(NAMES) == (None if stamp is None else {NAME: stamp})
        assert await files.read(NAME, 3) == OLD[:3]


@pytest.mark.parametrize("verb", ["MLSD", "LIST"])
async def test_names_with_odd_characters_are_no_other_files(server: ScriptedFtp, verb: str) -> None:
    server.lacks = {"MLSD"} - {verb}
    odd = ["a b", f"x\t{OTHER}", "grüße", " ", ";", f"{OTHER} ", f"{OTHER};", "->", "x" * 200_000]
    server.files |= {f"/{name}": b"" for name in odd}

    async with reader(server, 5).opened(IP) as files:
        listed = await files.listing(NAMES)
    assert listed is not None
    assert NAME in listed
    # A line of ``ls`` does not say where a name with spaces begins.
    assert (OTHER in listed) is (verb == "LIST")


async def test_listing_beyond_its_bounds_is_given_up_and_the_session_goes_on(
    server: ScriptedFtp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ftp_files, "_LISTING_LIMIT", 300_000)
    server.files |= {f"/{number:090d}": b"" for number in range(10_000)}

    async with reader(server, 5).opened(IP) as files:
        assert await files.listing(NAMES) is None
        assert await files.read(NAME, 3) == OLD[:3]


@pytest.mark.parametrize("line", [b"\n", b"x" * 99 + b"\n", b"x"], ids=["empty", "short", "one"])
def test_bounded_listing_of_any_lines_blocks_for_a_moment(line: bytes) -> None:
    """16 MiB: a million and more lines, or one."""
    lines = ftp_files._Lines(NAMES, ftp_files._by_facts)
    block = line * (64 * 1024 // len(line))
    longest = 0.0
    for _ in range(16 * 1024 * 1024 // len(block) - 1):
        began = perf_counter()
        lines.take(block)
        longest = max(longest, perf_counter() - began)
    lines.take(f"\nsize=1; {NAME}\n".encode())

    assert lines.found == {NAME: "size=1;"}
    assert longest < 0.5


@pytest.mark.parametrize("name", ["", "..", "../a", "a b", "a\r\nDELE b"])
async def test_name_with_a_path_is_refused(server: ScriptedFtp, name: str) -> None:
    async with reader(server).opened(IP) as files:
        with pytest.raises(Refused):
            await files.read(name, 1)
    assert "DELE" not in server.seen


async def test_file_without_end_is_read_to_its_bound(server: ScriptedFtp) -> None:
    server.faults = [Fault("RETR", "more_bytes", 1)]

    async with reader(server, 5).opened(IP) as files:
        assert await files.read(NAME, 100_000) == (OLD * 10)[:100_000]


async def test_trickling_file_ends_at_the_deadline_of_the_call(server: ScriptedFtp) -> None:
    server.faults, server.pause = [Fault("RETR", "trickle", 1)], 0.02
    began = perf_counter()

    async with reader(server).opened(IP) as files:
        with pytest.raises(TimedOut):
            await files.read(NAME, 10**6)
    assert perf_counter() - began < 5


async def test_long_session_has_a_deadline_for_each_call_and_a_short_one_for_all(
    server: ScriptedFtp,
) -> None:
    async def reads(files: FilesOnServer) -> None:
        for _ in range(8):
            await files.read(NAME, 9)
            await asyncio.sleep(0.1)

    async with reader(server).opened(IP) as files:
        await reads(files)
    with pytest.raises(TimedOut):
        async with reader(server).opened(IP, 0.3) as files:
            await reads(files)


async def test_tls_is_used_for_listing_and_content(certificates: Certificates) -> None:
    server = ScriptedFtp(certificates.context())
    server.files = {f"/{NAME}": OLD}
    async with server.serving():
        settings = settings_for(server.port, "explicit", certificates.ca, host=IP)
        uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))
        async with uploader.opened(IP) as files:
            assert await files.listing(NAMES)
            assert await files.read(NAME, 10**6) == OLD
    assert server.resumed == [True, True]
