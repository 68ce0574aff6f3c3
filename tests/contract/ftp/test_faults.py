"""Faults of a server: the kind of error, the named step, the deadline, and complete files."""

import asyncio
import traceback
from time import perf_counter

import pytest

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_faults import GREETING, SERVER_WORDS, Fault, Kind
from support.ftp_rigs import LOOPBACK, Certificates, settings_for
from support.ftp_scripted import ScriptedFtp

NAME = "SEP001122334455.cnf.xml"
OLD, NEW = b"old" * 7000, b"new!" * 40_000
UPLOAD = Upload("127.0.0.1", NAME, NEW, "a-1")
SHORT, SILENCE, LONG = 0.3, 1.0, 5.0  # seconds a step
TLS_MODES: tuple[Tls, ...] = ("off", "explicit")
SILENT_TRANSFERS: tuple[Kind, ...] = ("stall", "trickle", "no_226")
WRONG_READINGS: tuple[Kind, ...] = (
    "reset_data",
    "reset_both",
    "half",
    "other_bytes",
    "more_bytes",
)

# Every verb of an upload, its occurrence, and its step.
STEPS = [
    (GREETING, 1, "connecting"),
    ("USER", 1, "logging in"),
    ("PASS", 1, "logging in"),
    ("CWD", 1, "logging in"),
    ("TYPE", 1, "uploading"),
    ("EPSV", 1, "uploading"),
    ("STOR", 1, "uploading"),
    ("EPSV", 2, "verifying"),
    ("RETR", 1, "verifying"),
    ("RNFR", 1, "renaming"),
    ("RNTO", 1, "renaming"),
]
TLS_STEPS = [("AUTH", 1, "connecting"), ("PBSZ", 1, "connecting"), ("PROT", 1, "connecting")]


async def failure(
    server: ScriptedFtp,
    tls: Tls,
    certificates: Certificates,
    timeout: float,
    total: float = 18.0,
    content: bytes = NEW,
) -> PhoneprovError:
    """The error of an upload over an old file, after a check of all remaining files."""
    settings = settings_for(
        server.port, tls, certificates.ca, directory="cfg", timeout=timeout, total=total
    )
    uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))
    server.files[f"/cfg/{NAME}"] = OLD
    started = perf_counter()
    with pytest.raises(PhoneprovError) as caught:
        await uploader.upload(Upload("127.0.0.1", NAME, content, "a-1"))
    took = perf_counter() - started

    assert took < min(total, 2 * timeout) + 2
    await server.quiet()
    assert SERVER_WORDS not in "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in caught.value.message
    return caught.value


def scripted(*faults: Fault, tls: Certificates | None = None) -> ScriptedFtp:
    server = ScriptedFtp(tls.context() if tls else None)
    server.folders.add("/cfg")
    server.faults = list(faults)
    return server


@pytest.mark.parametrize(("verb", "nth", "step"), STEPS)
@pytest.mark.parametrize("kind", ["refuse", "reset", "close", "cut", "nonsense", "flood"])
async def test_refusal_or_disconnect_at_any_command_is_reported(
    verb: str, nth: int, step: str, kind: Kind, certificates: Certificates
) -> None:
    async with scripted(Fault(verb, kind, nth, reply="451")).serving() as server:
        caught = await failure(server, "off", certificates, LONG)

        assert isinstance(caught, Refused)
        assert step in caught.message
        assert server.files == {f"/cfg/{NAME}": OLD}


@pytest.mark.parametrize(("verb", "nth", "step"), TLS_STEPS)
@pytest.mark.parametrize("kind", ["refuse", "reset", "close", "cut", "nonsense", "flood"])
async def test_tls_failure_at_any_command_sends_no_password(
    verb: str, nth: int, step: str, kind: Kind, certificates: Certificates
) -> None:
    async with scripted(Fault(verb, kind, nth), tls=certificates).serving() as server:
        caught = await failure(server, "explicit", certificates, LONG)

        assert isinstance(caught, Refused)
        assert step in caught.message
        assert "PASS" not in server.seen
        assert server.files == {f"/cfg/{NAME}": OLD}


BROKEN: list[tuple[str, int, Kind, str]] = [
    ("STOR", 1, "reset_data", "uploading"),
    ("STOR", 1, "reset_both", "uploading"),
    ("STOR", 1, "half", "verifying"),
    *(("RETR", 1, kind, "verifying") for kind in WRONG_READINGS),
]


@pytest.mark.parametrize("tls", ["off", "explicit"])
@pytest.mark.parametrize(("verb", "nth", "kind", "step"), BROKEN)
async def test_transfer_interrupted_or_altered_is_reported(
    verb: str, nth: int, kind: Kind, step: str, tls: Tls, certificates: Certificates
) -> None:
    secure = certificates if tls == "explicit" else None
    async with scripted(Fault(verb, kind, nth), tls=secure).serving() as server:
        caught = await failure(server, tls, certificates, LONG)

        assert isinstance(caught, Refused)
        assert step in caught.message
        assert server.files == {f"/cfg/{NAME}": OLD}


SILENT: list[tuple[str, int, Kind, str, Tls]] = [
    *((verb, nth, "hang", step, "off") for verb, nth, step in STEPS),
    *((verb, nth, "hang", step, "explicit") for verb, nth, step in TLS_STEPS),
    *(
        (verb, nth, kind, step, tls)
        for verb, nth, step in STEPS
        if verb in {"STOR", "RETR"}
        for kind in SILENT_TRANSFERS
        for tls in TLS_MODES
    ),
]


async def test_server_silent_or_stalled_times_out(certificates: Certificates) -> None:
    """All at once, since each takes its whole timeout."""

    async def one(verb: str, nth: int, kind: Kind, step: str, tls: Tls) -> str | None:
        secure = certificates if tls == "explicit" else None
        async with scripted(Fault(verb, kind, nth), tls=secure).serving() as server:
            caught = await failure(server, tls, certificates, SILENCE)
            whole = server.files == {f"/cfg/{NAME}": OLD}
            right = isinstance(caught, TimedOut) and step in caught.message
            return None if whole and right else f"{verb} {nth} {kind} {tls}: {caught!r} {whole=}"

    found = await asyncio.gather(*(one(*case) for case in SILENT))

    assert [wrong for wrong in found if wrong] == []


async def test_full_disk_is_reported_by_the_reply_not_as_a_broken_connection(
    certificates: Certificates,
) -> None:
    too_much = NEW * 100  # More than the buffers of sockets, so that writing fails within the file.
    async with scripted(Fault("STOR", "reset_data")).serving() as server:
        caught = await failure(server, "off", certificates, LONG, content=too_much)

        assert "(reply 426)" in caught.message


async def test_server_slow_at_every_step_reaches_the_total_timeout(
    certificates: Certificates,
) -> None:
    async with scripted().serving() as server:
        server.delay = 0.1
        caught = await failure(server, "off", certificates, LONG, total=0.4)

        assert isinstance(caught, TimedOut)
        assert server.files[f"/cfg/{NAME}"] == OLD


async def test_closed_port_is_refused(certificates: Certificates) -> None:
    async with scripted().serving() as server:
        pass
    caught = await failure(server, "off", certificates, LONG)

    assert isinstance(caught, Refused)
    assert "connecting" in caught.message


async def test_temporary_file_not_removable_keeps_the_first_error(
    certificates: Certificates,
) -> None:
    faults = Fault("RNTO", "refuse", reply="451"), Fault("DELE", "refuse", 0)
    async with scripted(*faults).serving() as server:
        caught = await failure(server, "off", certificates, LONG)

        assert "renaming" in caught.message
        assert server.files[f"/cfg/{NAME}"] == OLD


@pytest.mark.parametrize("kind", ["hang", "refuse", "reset", "nonsense"])
@pytest.mark.parametrize("verb", ["MLSD", "DELE", "QUIT"])
async def test_fault_after_the_rename_is_no_failure(
    verb: str, kind: Kind, certificates: Certificates
) -> None:
    async with scripted(Fault(verb, kind, 0, reply="450")).serving() as server:
        server.files["/cfg/." + NAME + ".dead.tmp"] = b"leftover"
        settings = settings_for(server.port, directory="cfg", timeout=SHORT)
        uploaded = await FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).upload(UPLOAD)

        assert server.files[f"/cfg/{NAME}"] == NEW
        assert bool(uploaded.notes) == (verb != "QUIT")
        assert SERVER_WORDS not in "".join(uploaded.notes)
        await asyncio.wait_for(server.quiet(), 60)
