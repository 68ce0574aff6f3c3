"""Connections of an upload: passive mode, TLS, names, listings."""

import asyncio
import ssl
import traceback
from pathlib import Path

import aioftp
import pytest
from aioftp.common import Code

from phoneprov_adapters.ftp import listings
from phoneprov_adapters.ftp.client import FtpClient, Tls
from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.devices.ports import Upload, Uploaded
from support.ftp_faults import SERVER_WORDS, Fault
from support.ftp_rigs import LOOPBACK, Certificates, settings_for
from support.ftp_scripted import ScriptedFtp

NAME = "SEP001122334455.cnf.xml"
NEW = b"new!" * 40_000


async def upload(settings: FtpSettings, ip: str | None = "127.0.0.1") -> Uploaded:
    uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK + ",::1/128"))
    return await uploader.upload(Upload(ip, NAME, NEW, "a-1"))


async def failure(settings: FtpSettings) -> str:
    with pytest.raises(Refused) as caught:
        await upload(settings)
    assert SERVER_WORDS not in "".join(traceback.format_exception(caught.value))
    assert settings.password not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize("lies_about_port", [True, False])
async def test_pasv_other_address_is_not_used(lies_about_port: bool) -> None:
    heard: list[bytes] = []

    async def canary(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1))
        writer.transport.abort()

    elsewhere = await asyncio.start_server(canary, "127.0.0.2", 0)
    server = ScriptedFtp()
    server.lacks = {"EPSV"}
    server.pasv = "127,0,0,2"
    if lies_about_port:
        server.pasv_port = elsewhere.sockets[0].getsockname()[1]
    async with server.serving(), elsewhere:
        if lies_about_port:
            assert "uploading" in await failure(settings_for(server.port))
        else:
            await upload(settings_for(server.port))
            assert server.files == {f"/{NAME}": NEW}
        await asyncio.sleep(0.01)

    assert heard == []


@pytest.mark.parametrize(
    ("lacks", "reply"),
    [
        *(
            ({"EPSV"}, f"227 here ({address})")
            for address in ("", "1,2,3,4,5", "127,0,0,1,0,0", "127,0,0,1,999,999")
        ),
        *(
            (set(), f"229 here {address}")
            for address in ("(|||0|)", "(|||99999|)", "(||21|)", "|||21|", "(|||x|)")
        ),
    ],
)
async def test_malformed_passive_reply_is_refused(lacks: set[str], reply: str) -> None:
    server = ScriptedFtp()
    server.lacks = lacks
    server.passive_reply = reply
    async with server.serving():
        assert "uploading" in await failure(settings_for(server.port))


@pytest.mark.parametrize(
    ("state", "directory", "words"),
    [
        ({}, "nowhere", "folder while logging in"),
        ({"password": "another"}, "", "password while logging in (reply 530)"),
        ({"greeting": b"220 " + b"x" * 300_000}, "", "connecting"),
    ],
    ids=["folder", "password", "greeting"],
)
async def test_failure_names_its_step_and_reason(
    state: dict[str, object], directory: str, words: str
) -> None:
    async with ScriptedFtp().serving() as server:
        for name, value in state.items():
            setattr(server, name, value)
        message = await failure(settings_for(server.port, directory=directory))

        assert all(word in message for word in words.split(" while "))


async def test_ipv6_address_in_brackets_is_used() -> None:
    server = ScriptedFtp()
    async with server.serving("::1"):
        uploaded = await upload(settings_for(server.port), "::1")

        assert server.files == {f"/{NAME}": NEW}
        assert uploaded.place == f"[::1]:{server.port}/{NAME}"


@pytest.mark.parametrize("directory", ["tftp", "/tftp", "/tftp/"])
async def test_configured_folder_receives_the_file(directory: str) -> None:
    server = ScriptedFtp()
    server.folders |= {"/tftp", "/tftp/"}
    async with server.serving():
        uploaded = await upload(settings_for(server.port, directory=directory))

        assert server.files == {f"/tftp/{NAME}": NEW}
        assert uploaded.place == f"127.0.0.1:{server.port}/tftp/{NAME}"


async def test_greeting_in_latin_1_is_accepted() -> None:
    async with ScriptedFtp().serving() as server:
        server.greeting = "220-Grüß Gott\r\n220 bereit\r\n".encode("latin-1")
        await upload(settings_for(server.port))

        assert server.files == {f"/{NAME}": NEW}


async def test_folder_over_the_listing_limit_is_noted() -> None:
    server = ScriptedFtp()
    server.files = {f"/{number:0100d}": b"" for number in range(12_000)}
    async with server.serving():
        uploaded = await upload(settings_for(server.port))

        assert server.files[f"/{NAME}"] == NEW
        assert len(uploaded.notes) == 1


@pytest.mark.parametrize("flood", [b"\n", b"220-x\r\n", b"120 wait\r\n"])
async def test_greeting_of_many_lines_is_refused_after_few_of_them(
    flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other tasks do not run while the lines of one packet are read."""
    lines = 0
    parse_line = FtpClient.parse_line

    async def counted(self: FtpClient) -> tuple[Code, str]:
        nonlocal lines
        lines += 1
        return await parse_line(self)

    monkeypatch.setattr(FtpClient, "parse_line", counted)
    async with ScriptedFtp().serving() as server:
        server.greeting = flood * 40_000
        assert "connecting" in await failure(settings_for(server.port))

    assert lines <= 512


async def test_reply_number_in_other_digits_is_not_quoted() -> None:
    async with ScriptedFtp().serving() as server:
        server.greeting = "\uff15\uff13\uff10 no\r\n220 yes\r\n".encode()
        message = await failure(settings_for(server.port))

        assert message.isascii()


@pytest.mark.parametrize("verb", ["STOR", "RETR"])
async def test_transfer_with_preliminary_replies_without_end_is_refused(verb: str) -> None:
    server = ScriptedFtp()
    server.preliminary = {verb: b"150 more\r\n" * 40_000}
    async with server.serving():
        message = await failure(settings_for(server.port))

    assert "sent a reply that is not FTP" in message


async def test_listing_of_many_names_for_many_uploads_is_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """150,000 names for 8 uploads blocked the event loop for 2 s."""
    compared = 0
    file_of_leftover = listings.file_of_leftover

    def counted(name: str) -> str | None:
        nonlocal compared
        compared += 1
        return file_of_leftover(name)

    monkeypatch.setattr(listings, "file_of_leftover", counted)
    server = ScriptedFtp()
    server.files = {f"/.other-{number}.xml.a-1.tmp": b"" for number in range(500)}
    async with server.serving():
        uploader = FtpUploader(settings_for(server.port), PhoneNetworks.parse(LOOPBACK))
        uploads = [Upload("127.0.0.1", f"{number}.xml", NEW, "a-1") for number in range(8)]
        await asyncio.gather(*(uploader.upload(upload) for upload in uploads))

    # Each listing is filtered once, and searched once by each upload; never for each pair.
    assert compared <= 2 * len(uploads) * 520


@pytest.mark.parametrize(
    "lacks", [set(), {"MLSD", "LIST"}, {"MLSD", "NLST"}, {"MLSD", "NLST", "LIST"}]
)
async def test_leftover_files_are_found_with_any_listing_command(lacks: set[str]) -> None:
    server = ScriptedFtp()
    server.lacks = lacks
    server.files = {f"/.{NAME}.dead-{number}.tmp": b"left" for number in range(3)}
    async with server.serving():
        uploaded = await upload(settings_for(server.port))

        assert (server.files == {f"/{NAME}": NEW}) is (len(lacks) < 3)
        assert uploaded.notes == ()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("tls", ["explicit", "implicit"])
async def test_tls_data_connections_resume_the_control_session(
    tls: Tls, version: ssl.TLSVersion, certificates: Certificates
) -> None:
    context = certificates.context()
    context.maximum_version = version
    server = ScriptedFtp(context, implicit=tls == "implicit")
    async with server.serving():
        await upload(settings_for(server.port, tls, certificates.ca))

        assert len(server.resumed) >= 3
        assert all(server.resumed)


@pytest.mark.parametrize("tls", ["explicit", "implicit"])
async def test_aioftp_hangs_where_the_uploader_does_not(
    tls: Tls, certificates: Certificates
) -> None:
    """If this fails, aioftp is fixed, and client.py states which code can go."""
    ca = ssl.create_default_context(cafile=certificates.ca)
    server = ScriptedFtp(certificates.context(), implicit=tls == "implicit")
    async with server.serving():
        client = aioftp.Client(ssl=ca if tls == "implicit" else None)
        await client.connect("127.0.0.1", server.port)
        if tls == "explicit":
            await client.upgrade_to_tls(ca)
        await client.login("phone", "s3cret")
        if tls == "implicit":
            await client.command("PBSZ 0", "200")
            await client.command("PROT P", "200")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await client.upload_stream(NAME)
        client.stream.writer.transport.abort()


async def test_tls_host_name_is_checked_against_the_certificate(certificates: Certificates) -> None:
    async with ScriptedFtp(certificates.context()).serving() as server:
        settings = settings_for(server.port, "explicit", certificates.ca, host="localhost")
        uploaded = await upload(settings)

        assert uploaded.place == f"localhost:{server.port}/{NAME}"


async def test_server_with_clear_data_connections_is_refused(
    certificates: Certificates,
) -> None:
    server = ScriptedFtp(certificates.context(), implicit=True)
    server.faults = [Fault("PROT", "refuse", reply="534")]
    async with server.serving():
        message = await failure(settings_for(server.port, "implicit", certificates.ca))

        assert "TLS for data connections while logging in (reply 534)" in message
        assert "STOR" not in server.seen


async def test_tls_bytes_before_the_handshake_are_refused(
    certificates: Certificates,
) -> None:
    server = ScriptedFtp(certificates.context())
    server.injected = b"500 slipped in\r\n" * 3
    async with server.serving():
        await upload(settings_for(server.port, "explicit", certificates.ca))

        assert server.files == {f"/{NAME}": NEW}


async def test_missing_certificate_authority_is_refused_at_start() -> None:
    with pytest.raises(OSError):
        await upload(settings_for(21, "explicit", Path("/nonexistent.pem")))


async def test_upload_content_and_password_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with ScriptedFtp().serving() as server:
        server.password = "another"
        with pytest.raises(PhoneprovError):
            await upload(settings_for(server.port))

    assert SERVER_WORDS not in caplog.text
    assert "s3cret" not in caplog.text
