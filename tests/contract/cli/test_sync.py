"""``phoneprov sync people`` for scripts and timers."""

import asyncio
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from contract.sync.conftest import ldif, person
from support.command_line import PROGRAM, run, without_settings
from support.data_folder import populate
from support.polling import until
from support.postgres import ask, new_database
from support.scale import note, rounds


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty database in the data folder, and the current folder."""
    populate(tmp_path / "data")
    monkeypatch.chdir(tmp_path)


DRY = "Dry run, nothing was written: 1 new, 1 changed, 0 unchanged, 1 missing deactivated, 0 wrong."


def phoneprov(*arguments: str, stdin: str = "") -> Result:
    return run(*arguments, data=Path("data"), stdin=stdin)


def sync(text: str, *options: str) -> Result:
    return phoneprov("sync", "people", "-", "--source", "ad", *options, stdin=text)


def entries(first: int, last: int) -> str:
    return "".join(ldif(**person(number)) for number in range(first, last + 1))


def usernames() -> list[str]:
    phoneprov("export", "users", "users.csv")
    lines = Path("users.csv").read_text().splitlines()[1:]
    return [line.split(",")[3].strip('"') for line in lines]


def accounts() -> int:
    with closing(sqlite3.connect("data/phoneprov.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM users").fetchone()
        return int(count)


def test_people_are_read_from_standard_input() -> None:
    done = sync(entries(1, 3))

    assert (done.exit_code, done.stderr) == (0, "")
    assert (
        done.stdout
        == "Synchronised: 3 new, 0 changed, 0 unchanged, 0 missing deactivated, 0 wrong.\n"
    )


def test_dry_run_shows_each_change() -> None:
    sync(entries(1, 2))

    done = sync(ldif(**person(1, sAMAccountName="ada")) + entries(3, 3), "--dry-run")

    assert done.stdout.splitlines() == [
        "updated user1, username user1 -> ada",
        "created user3",
        "deactivated user2",
        DRY,
    ]
    assert done.exit_code == 0


def test_wrong_entry_is_reported_and_the_others_are_written() -> None:
    done = sync(ldif(**person(1, mail="none")) + entries(2, 2))

    assert done.stderr.startswith("stdin:1: email must be")
    assert (done.exit_code, accounts()) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the input is empty"),
        (
            entries(1, 4),
            "8 of 12 people of ad would be deactivated (8) or renamed (0), more than 5.",
        ),
        (entries(1, 12)[:-1], "ends amid the entry"),
    ],
)
def test_unsafe_input_writes_nothing_with_exit_code_5_and_one_line(text: str, message: str) -> None:
    sync(entries(1, 12))
    before = Path("data/phoneprov.db").read_bytes()

    done = sync(text)

    assert (done.exit_code, done.stdout) == (5, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert Path("data/phoneprov.db").read_bytes() == before


def test_table_of_another_program_is_mapped(tmp_path: Path) -> None:
    (tmp_path / "entra.csv").write_text(
        "id,userPrincipalName,givenName,surname,mail,jobTitle\n"
        "7f,ada@office.example,Ada,Lovelace,ada@office.example,Engineer\n"
    )
    names = {
        "key": "id", "username": "userPrincipalName", "first_name": "givenName",
        "last_name": "surname", "email": "mail",
    }  # fmt: skip
    options = [part for name, column in names.items() for part in ("--map", f"{name}={column}")]

    strange = phoneprov("sync", "people", "entra.csv", "--source", "entra")
    done = phoneprov("sync", "people", "entra.csv", "--source", "entra", *options)

    assert strange.exit_code == 1
    assert "needs a column key" in strange.stderr
    assert (done.exit_code, accounts()) == (0, 1)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--most", "101%"), "it must be 0% to 100%"),
        (("--map", "username"), "is not FIELD=ATTRIBUTE"),
        (("--source", "A D"), "--source must be 1 to 32"),
    ],
)
def test_wrong_option_is_one_line(option: tuple[str, str], message: str) -> None:
    done = sync(entries(1, 1), *option)

    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert message in done.stderr


def test_sync_that_is_killed_writes_all_or_nothing(tmp_path: Path) -> None:
    """Killed at several moments of the writing, on a database in a file."""
    (tmp_path / "people.ldif").write_text(entries(1, 400))
    seen = set()
    for number in range(rounds(3, 20)):
        process = subprocess.Popen(
            [*PROGRAM, "sync", "people", "people.ldif", "--source", "ad"],
            env=without_settings(PHONEPROV_DATA_DIR="data"),
            stdout=subprocess.DEVNULL,
        )
        journal = tmp_path / "data" / "phoneprov.db-wal"
        while process.poll() is None and not (journal.exists() and journal.stat().st_size):
            time.sleep(0.005)
        time.sleep(0.1 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        seen.add(accounts())
    note(f"accounts after the kills: {sorted(seen)}")

    assert seen <= {0, 400}
    assert sync(entries(1, 400)).exit_code == 0
    assert accounts() == 400


async def test_sync_that_is_killed_writes_all_or_nothing_in_postgresql(tmp_path: Path) -> None:
    """Killed at several moments; the server ends the transaction, and its lock goes with it."""
    (tmp_path / "people.ldif").write_text(entries(1, 400))
    command = [*PROGRAM, "sync", "people", "people.ldif", "--source", "ad"]
    async with new_database() as url:
        settings = without_settings(PHONEPROV_DATA_DIR="data", PHONEPROV_DATABASE_URL=url)
        await asyncio.to_thread(
            subprocess.run, [*PROGRAM, "db", "upgrade"], env=settings, check=True,
            capture_output=True,
        )  # fmt: skip
        seen = set()
        writing = "SELECT count(*) FROM pg_locks WHERE relation = 'directory_keys'::regclass"

        async def is_writing(process: asyncio.subprocess.Process) -> bool:
            return process.returncode is not None or bool((await ask(url, writing))[0][0])

        for number in range(rounds(3, 20)):
            process = await asyncio.create_subprocess_exec(
                *command, env=settings, stdout=subprocess.DEVNULL
            )
            await until(partial(is_writing, process))
            await asyncio.sleep(0.5 * number)
            if process.returncode is None:
                process.kill()
            await process.wait()
            seen.add((await ask(url, "SELECT count(*) FROM users"))[0][0])
        note(f"accounts in PostgreSQL after the kills: {sorted(seen)}")
        assert seen <= {0, 400}
        done = await asyncio.to_thread(
            subprocess.run, command, env=settings, capture_output=True, text=True, check=False
        )

        assert (done.returncode, done.stderr) == (0, "")
        assert (await ask(url, "SELECT count(*) FROM users"))[0][0] == 400
        assert (await ask(url, "SELECT count(*) FROM directory_keys"))[0][0] == 400
