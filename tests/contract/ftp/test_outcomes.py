"""Faults after the rename: the uploader finds out which file is in place, or reports the unknown
outcome."""

import asyncio

import pytest
import uvloop

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.replace import FOUND_LATER
from phoneprov_adapters.ftp.uploader import NOT_HIDDEN, FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import Upload, Uploaded
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.ftp_faults import GREETING, Fault, Kind
from support.ftp_rigs import LOOPBACK, settings_for
from support.ftp_scripted import ScriptedFtp

NAME = "SEP001122334455.cnf.xml"
OLD, NEW = b"old" * 700, b"new!" * 4000


def scripted(*faults: Fault) -> ScriptedFtp:
    server = ScriptedFtp()
    server.faults = list(faults)
    server.files[f"/{NAME}"] = OLD
    return server


async def upload(server: ScriptedFtp, timeout: float = 5.0, tls: Tls = "off") -> Uploaded:
    settings = settings_for(server.port, tls, timeout=timeout)
    uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))
    return await uploader.upload(Upload("127.0.0.1", NAME, NEW, "a-1"))


async def failure(server: ScriptedFtp, timeout: float = 5.0) -> PhoneprovError:
    with pytest.raises(PhoneprovError) as caught:
        await upload(server, timeout)
    await server.quiet(20)
    return caught.value


AFTER_RENAME: list[tuple[str, int, Kind]] = [
    ("RNTO", 1, "deaf"),
    *(("EPSV", 3, kind) for kind in ("reset", "close", "cut", "nonsense", "hang")),
    *(("RETR", 2, kind) for kind in ("reset", "hang", "half", "reset_both", "no_226", "stall")),
]


@pytest.mark.parametrize(("verb", "nth", "kind"), AFTER_RENAME)
async def test_upload_fault_after_rename_is_read_back_over_another_connection(
    verb: str, nth: int, kind: Kind
) -> None:
    async with scripted(Fault(verb, kind, nth)).serving() as server:
        uploaded = await upload(server, 1.0)

        assert FOUND_LATER in uploaded.notes
        assert server.files == {f"/{NAME}": NEW}


async def test_upload_rename_that_hangs_does_not_take_effect_later() -> None:
    async with scripted(Fault("RNTO", "hang")).serving() as server:
        error = await failure(server, 0.5)

        assert isinstance(error, TimedOut)
        assert error.code != OUTCOME_UNKNOWN
        assert server.files == {f"/{NAME}": OLD}


async def test_upload_server_gone_after_rename_has_unknown_outcome() -> None:
    server = scripted(Fault("EPSV", "close", 3))
    server.faults += [Fault(GREETING, "close", nth) for nth in range(2, 9)]
    async with server.serving():
        error = await failure(server, 0.5)

        assert isinstance(error, Refused)
        assert error.code == OUTCOME_UNKNOWN
        assert NAME in error.message


async def test_upload_other_file_after_rename_has_unknown_outcome() -> None:
    server = scripted()

    def replace(verb: str, rest: str) -> None:
        if verb == "EPSV" and "RNTO" in server.seen:
            server.files[f"/{NAME}"] = b"of another program"

    server.on_verb = replace
    async with server.serving():
        assert (await failure(server)).code == OUTCOME_UNKNOWN


async def test_upload_without_time_for_the_rename_does_not_begin_it() -> None:
    async with scripted().serving() as server:
        server.delay = 0.2
        settings = settings_for(server.port, timeout=5.0, total=2.0)
        with pytest.raises(TimedOut):
            await FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).upload(
                Upload("127.0.0.1", NAME, NEW, "a-1")
            )

        assert "RNTO" not in server.seen
        assert server.files == {f"/{NAME}": OLD}


VERBS = [("USER", 1), ("PASS", 1), ("TYPE", 1), ("RNFR", 1), ("RNTO", 1), ("MLSD", 1), ("QUIT", 1)]
RESETS: list[tuple[str, int, Kind]] = [
    (GREETING, 1, "reset"),
    *((verb, nth, kind) for verb, nth in VERBS for kind in ("reset", "cut")),
    *(("EPSV", nth, kind) for nth in (1, 2, 3, 4) for kind in ("reset", "cut")),
    *(("STOR", 1, kind) for kind in ("reset", "cut", "reset_data", "reset_both")),
    *(("RETR", nth, kind) for nth in (1, 2) for kind in ("reset", "reset_data", "reset_both")),
]


def test_upload_reset_anywhere_under_uvloop_is_an_error_of_ours() -> None:
    async def one(fault: Fault) -> str | None:
        async with scripted(fault).serving() as server:
            try:
                await upload(server)
            except PhoneprovError as error:
                wanted = {f"/{NAME}": OLD}
                if error.code == OUTCOME_UNKNOWN:
                    return f"{fault}: {error.message}"
            else:
                wanted = {f"/{NAME}": NEW}
            await server.quiet(20)
            return None if server.files == wanted else f"{fault}: {sorted(server.files)}"

    async def run_all_faults() -> list[str | None]:
        return [await one(Fault(verb, kind, nth)) for verb, nth, kind in RESETS]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert [wrong for wrong in runner.run(run_all_faults()) if wrong] == []


@pytest.mark.parametrize("reply", ["500", "502", "522", "530", "550"])
async def test_upload_epsv_refused_uses_pasv(reply: str) -> None:
    async with scripted(Fault("EPSV", "refuse", 0, reply)).serving() as server:
        await upload(server)

        assert server.files == {f"/{NAME}": NEW}
        assert server.seen.count("EPSV") == 1


async def test_upload_hidden_name_refused_uses_a_visible_one() -> None:
    async with scripted(Fault("STOR", "refuse", 1, "553")).serving() as server:
        server.files[f"/{NAME}.phoneprov-dead-1.tmp"] = b"left"
        uploaded = await upload(server)

        assert uploaded.notes == (NOT_HIDDEN,)
        assert server.files == {f"/{NAME}": NEW}


@pytest.mark.parametrize(
    ("verb", "reply", "words", "expected"),
    [
        ("USER", "530", "Non-anonymous sessions must use encryption.", "requires TLS"),
        ("USER", "550", "SSL/TLS required on the control channel", "requires TLS"),
        ("USER", "421", "Sorry, cleartext sessions are not accepted.", "requires TLS"),
        ("PASS", "530", "Sorry, the maximum number of clients (1) are connected", "no more logins"),
        (
            GREETING,
            "421",
            "There are too many connected users, please try later.",
            "no more logins",
        ),
        ("PASS", "530", "Login incorrect.", "refused the user or the password"),
        ("STOR", "452", "x", "disk is full"),
        ("STOR", "552", "x", "disk is full"),
        ("STOR", "451", "Failure writing to local file.", "disk is full"),
        ("STOR", "451", "Error during write to file", "disk is full"),
        ("STOR", "451", "Transfer aborted. Input/output error", "disk is full"),
        ("STOR", "451", "x", "refused the temporary file"),
    ],
)
async def test_upload_refusal_is_read_for_its_cause(
    verb: str, reply: str, words: str, expected: str
) -> None:
    async with scripted(Fault(verb, "refuse", 1, f"{reply} {words}")).serving() as server:
        error = await failure(server)

        assert expected in error.message
        assert words not in error.message


async def test_upload_temporary_file_is_removed_when_the_total_is_used_up() -> None:
    async with scripted(Fault("RETR", "hang")).serving() as server:
        settings = settings_for(server.port, timeout=2.0, total=1.0)
        with pytest.raises(TimedOut):
            await FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).upload(
                Upload("127.0.0.1", NAME, NEW, "a-1")
            )

        assert server.files == {f"/{NAME}": OLD}


async def test_upload_slow_server_temporary_file_is_removed_in_the_same_session() -> None:
    async with scripted().serving() as server:

        def slow(verb: str, _rest: str) -> None:
            is_new_login = verb == "USER" and "STOR" in server.seen
            server.delay = 60.0 if is_new_login else 3.5 if verb == "STOR" else 0.0

        server.on_verb = slow
        error = await failure(server, 3.0)

        assert isinstance(error, TimedOut)
        assert "uploading" in error.message
        assert server.files == {f"/{NAME}": OLD}
