"""A full disk: changes are refused, reads succeed, and changes succeed again with free space."""

import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from faults.desk import desk
from faults.served import Served
from races.direct import PASSWORD
from races.wire import Line, Reply
from support.postgres import new_database
from support.postgres_binaries import make_folder
from support.scale import note

CONTACT = {"name": "Grace Hopper"}
FULL = 0
ROOM = -1


async def test_full_disk_refuses_changes_and_recovers(served: Served) -> None:
    async with desk(served.folder / "files") as outside:
        served.environment |= outside.settings()
        await asyncio.to_thread(served.start)
        token = await served.token()
        async with served.line() as line:
            changes = await prepare(line, token)
            before = await everything(line, token)

            served.limit_files(FULL)
            for _ in range(3):
                for change in changes:
                    refused(await line.ask(*change, token=token), change)
                assert await everything(line, token) == before
            assert outside.uploads.total() == 0
            assert outside.commands == []

            served.limit_files(ROOM)
            for change in changes:
                reply = await line.ask(*change, token=token)
                assert reply.status < 300, (change, reply)
            assert outside.uploads.total() == 1
            assert await everything(line, token) != before

            # The service must stop also while nothing can be written, the log included.
            served.limit_files(FULL)
            refused(await line.ask(*changes[0], token=token), changes[0])
        served.tell(signal.SIGTERM)
        assert (await served.ended(30))[0] == 0
    log = served.log_text()
    assert "Traceback" not in log
    # The log was on that disk too: lost lines were counted, and logging continued.
    assert re.search(r'"event":"\d+ events were dropped."', log)
    assert '"status":201' in log
    connection = sqlite3.connect(served.folder / "phoneprov.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    note("full disk: changes refused with 503, reads succeed, changes succeed with free space")


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A small disk for the server that runs PostgreSQL."""
    folder = make_folder("phoneprov-disk-")
    owner = folder.stat()
    options = f"size=32m,mode=700,uid={owner.st_uid},gid={owner.st_gid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can mount a disk that is small.")
async def test_full_disk_of_postgres_refuses_changes_and_recovers(
    small_disk: Path, tmp_path: Path
) -> None:
    async with new_database(disk=small_disk) as url:
        served = await asyncio.to_thread(Served, tmp_path, url)
        try:
            await asyncio.to_thread(served.start)
            await fill_and_empty(served, small_disk)
        finally:
            served.kill()
    assert "Traceback" not in served.log_text()
    note(
        "full disk, PostgreSQL: changes refused with 503, reads succeed, changes succeed afterwards"
    )


async def fill_and_empty(served: Served, disk: Path) -> None:
    token = await served.token()
    async with served.line() as line:
        me = (await line.ask("GET", "/me", token=token)).data["uuid"]
        # Text that compresses well would fit.
        noise = random.Random(1).randbytes(100_000).hex()
        profile = {"user_uuid": me, "name": "Ada", "cnf_xml": f"<a>{noise}</a>"}
        change = ("POST", "/phone-profiles", profile)
        assert (await line.ask(*change, token=token)).status == 201

        filling = disk / "filling"
        with suppress(OSError), filling.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        # Its existing pages may have space for one more record.
        answers = [await line.ask(*change, token=token) for _ in range(5)]
        assert {answer.status for answer in answers} <= {201, 503}
        before = await everything(line, token)
        for _ in range(5):
            refused(await line.ask(*change, token=token), change)
            assert await everything(line, token) == before

        filling.unlink()
        assert (await line.ask(*change, token=token)).status == 201
        assert await everything(line, token) != before


def refused(reply: Reply, change: Any) -> None:
    """Whether the change was refused for lack of space."""
    assert (reply.status, reply.code) == (503, "disk_full"), (change, reply)
    assert reply.envelope["message"] == "The database is full; nothing was changed."


async def prepare(line: Line, token: str) -> list[tuple[str, str, Any]]:
    """Changes of each kind, a login and a switch; each can be made once."""
    me = (await line.ask("GET", "/me", token=token)).data
    phone = {"mac": "00:1B:D4:12:34:56", "phone_ip": "127.0.0.1"}
    await line.ask("POST", "/phones", phone, token=token)
    xml = "<device><deviceProtocol>SCCP</deviceProtocol></device>"
    profile = {"user_uuid": me["uuid"], "name": "Ada", "cnf_xml": xml}
    made = (await line.ask("POST", "/phone-profiles", profile, token=token)).data["uuid"]
    contact = (await line.ask("POST", "/company-directory", CONTACT, token=token)).data["uuid"]
    user = {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "username": "ada",
        "email": "ada@example.com",
        "password": PASSWORD,
    }
    return [
        ("POST", "/company-directory", CONTACT),
        ("PUT", f"/company-directory/{contact}", {"name": "Ada Lovelace"}),
        ("DELETE", f"/company-directory/{contact}", None),
        ("POST", "/users", user),
        ("PUT", f"/phone-profiles/{made}", {"cnf_xml": f"<a>{'1' * 100_000}</a>"}),
        ("POST", "/phone-profiles/switch", {"profile_uuid": made, "mac": phone["mac"]}),
        ("POST", "/auth/login", {"username": me["username"], "password": PASSWORD}),
    ]


async def everything(line: Line, token: str) -> list[Any]:
    """The responses to reads of each kind."""
    paths = ["/me", "/users", "/phones", "/phone-profiles", "/company-directory", "/me/phones"]
    replies = [await line.ask("GET", path, token=token) for path in paths]
    assert [reply.status for reply in replies] == [200] * len(paths)
    return [reply.data for reply in replies]
