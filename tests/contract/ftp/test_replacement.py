"""A server that does not rename onto an existing file: the old file is restored, or the new one is
in place."""

import traceback
from time import perf_counter

import pytest

from phoneprov_adapters.ftp import replace
from phoneprov_adapters.ftp.replace import FOUND_LATER
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import Upload, Uploaded
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.ftp_faults import SERVER_WORDS, Fault, Kind
from support.ftp_rigs import LOOPBACK, settings_for
from support.ftp_scripted import ScriptedFtp
from support.polling import until

NAME = "SEP001122334455.cnf.xml"
OLD, NEW = b"old" * 7000, b"new!" * 40_000

# RNTO comes for the temporary file (refused), the old file, and the temporary file again.
ASIDE, AGAIN = 2, 3


def refusing_server(*faults: Fault) -> ScriptedFtp:
    server = ScriptedFtp()
    server.renames_over = False
    server.faults = list(faults)
    server.files[f"/{NAME}"] = OLD
    return server


async def upload(server: ScriptedFtp, timeout: float = 5.0) -> Uploaded:
    uploader = FtpUploader(
        settings_for(server.port, timeout=timeout), PhoneNetworks.parse(LOOPBACK)
    )
    return await uploader.upload(Upload("127.0.0.1", NAME, NEW, "a-1"))


async def failure(server: ScriptedFtp, timeout: float = 5.0) -> PhoneprovError:
    with pytest.raises(PhoneprovError) as caught:
        await upload(server, timeout)
    await server.quiet()
    assert "renaming" in caught.value.message
    assert SERVER_WORDS not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize("lacks", [set(), {"MLSD", "NLST", "LIST"}])
async def test_file_is_replaced_and_a_note_reports_it(lacks: set[str]) -> None:
    async with refusing_server().serving() as server:
        server.lacks = lacks
        uploaded = await upload(server)

        assert server.files == {f"/{NAME}": NEW}
        assert len(uploaded.notes) == 1
        assert "not atomic" in uploaded.notes[0]


async def test_replacement_without_old_file_has_no_note() -> None:
    async with refusing_server().serving() as server:
        server.files.clear()

        assert (await upload(server)).notes == ()
        assert server.files == {f"/{NAME}": NEW}


@pytest.mark.parametrize("reply", ["450", "553"])
@pytest.mark.parametrize("nth", [ASIDE, AGAIN])
async def test_replacement_refused_rename_restores_the_old_file(nth: int, reply: str) -> None:
    async with refusing_server(Fault("RNTO", "refuse", nth, reply)).serving() as server:
        caught = await failure(server)

        assert isinstance(caught, Refused)
        assert server.files == {f"/{NAME}": OLD}


@pytest.mark.parametrize("kind", ["reset", "close", "nonsense"])
@pytest.mark.parametrize("verb", ["RNFR", "RNTO"])
@pytest.mark.parametrize("nth", [ASIDE, AGAIN])
async def test_replacement_lost_connection_restores_the_old_file(
    nth: int, verb: str, kind: Kind
) -> None:
    async with refusing_server(Fault(verb, kind, nth)).serving() as server:
        caught = await failure(server)

        assert isinstance(caught, Refused)
        assert server.files == {f"/{NAME}": OLD}


@pytest.mark.parametrize("nth", [ASIDE, AGAIN])
async def test_replacement_silent_server_restores_the_old_file(nth: int) -> None:
    async with refusing_server(Fault("RNTO", "hang", nth)).serving() as server:
        started = perf_counter()
        caught = await failure(server, 1.0)

        assert isinstance(caught, TimedOut)
        assert perf_counter() - started < 1.9
        assert server.files == {f"/{NAME}": OLD}


async def test_replacement_server_that_renames_the_old_file_late_has_unknown_outcome() -> None:
    async with refusing_server().serving() as server:

        def slow(verb: str, rest: str) -> None:
            is_aside = verb == "RNTO" and server.seen.count("RNTO") == ASIDE
            server.delay = 5.0 if is_aside else 0.0

        server.on_verb = slow
        with pytest.raises(TimedOut) as caught:
            await upload(server, 2.5)

        aside = f".{NAME}.a-1-old.tmp"
        assert caught.value.code == OUTCOME_UNKNOWN
        assert NAME in caught.value.message
        assert aside in caught.value.message
        await until(lambda: f"/{NAME}" not in server.files)
        assert server.files == {f"/{aside}": OLD}


async def test_replacement_reply_to_the_first_rename_lost_restores_the_old_file() -> None:
    async with refusing_server(Fault("RNTO", "deaf", ASIDE)).serving() as server:
        await failure(server)

        assert server.files == {f"/{NAME}": OLD}


async def test_replacement_reply_to_the_second_rename_lost_finds_the_new_file() -> None:
    async with refusing_server(Fault("RNTO", "deaf", AGAIN)).serving() as server:
        uploaded = await upload(server)

        assert server.files[f"/{NAME}"] == NEW
        assert FOUND_LATER in uploaded.notes


async def test_old_bytes_are_uploaded_if_the_rename_back_fails() -> None:
    refusals = [Fault("RNTO", "refuse", nth, "553") for nth in range(AGAIN, 9)]
    async with refusing_server(*refusals).serving() as server:
        await failure(server)

        assert server.files[f"/{NAME}"] == OLD


async def test_file_that_cannot_be_restored_is_reported_with_its_place() -> None:
    refusals = [Fault("RNTO", "refuse", nth, "553") for nth in range(AGAIN, 9)]
    stores = [Fault("STOR", "refuse", nth) for nth in range(2, 9)]
    async with refusing_server(*refusals, *stores).serving() as server:
        caught = await failure(server)

        aside = f".{NAME}.a-1-old.tmp"
        assert aside in caught.message
        assert caught.code == OUTCOME_UNKNOWN
        assert server.files[f"/{aside}"] == OLD


async def test_rename_refused_without_an_old_file_is_refused() -> None:
    async with refusing_server(Fault("RNTO", "refuse", 1, "553")).serving() as server:
        server.files.clear()
        caught = await failure(server)

        assert isinstance(caught, Refused)
        assert server.files == {}


async def test_replacement_closed_connection_restores_the_old_file_over_a_new_one() -> None:
    # RETR arrives for the temporary file, for the old one, and before its restoration.
    faults = Fault("RNTO", "refuse", AGAIN, "553"), Fault("RETR", "reset", 3)
    async with refusing_server(*faults).serving() as server:
        await failure(server)

        assert server.files == {f"/{NAME}": OLD}


async def test_replacement_old_file_over_the_limit_is_not_touched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replace, "_OLD_LIMIT", len(OLD) - 1)
    async with refusing_server().serving() as server:
        caught = await failure(server)

        assert isinstance(caught, Refused)
        assert server.files == {f"/{NAME}": OLD}


async def test_interrupted_restore_is_repeated() -> None:
    faults = Fault("RNTO", "refuse", AGAIN, "553"), Fault("RNTO", "reset", AGAIN + 1)
    async with refusing_server(*faults).serving() as server:
        await failure(server)

        assert server.files == {f"/{NAME}": OLD}


async def test_partial_restore_is_not_accepted_as_the_file() -> None:
    refusals = [Fault("RNTO", "refuse", nth, "553") for nth in range(AGAIN, 9)]
    async with refusing_server(*refusals, Fault("STOR", "half", 2)).serving() as server:
        await failure(server)

        assert server.files[f"/{NAME}"] == OLD
