"""The commands of the page on backups run as written, during writes to the database: the restored
database is usable and has every answered change."""

import asyncio
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from phoneprov_adapters.composition.lifecycle import open_phoneprov, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.application import UseCases
from phoneprov_core.inventory.extensions import CreateExtension
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.people.directory.model import CreateCompanyContact
from support import data_folder
from support.polling import until
from support.postgres import new_database
from support.postgres_binaries import binaries
from support.records import a_user, identifier

PAGE = (Path(__file__).parents[3] / "docs/how-to/back-up-and-restore.md").read_text("utf-8")
ACTOR = Actor(identifier(1), SUPERADMIN)


def commands(section: str) -> list[str]:
    """The commands of a section: for the backup, and for the restore."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    return blocks


async def run_script(script: str, environment: Mapping[str, str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    path = [str(Path(sys.executable).parent), str(binaries()), os.environ["PATH"]]
    process = await asyncio.create_subprocess_exec(
        *(bash, "-euo", "pipefail", "-c", script),
        env={**os.environ, "PATH": os.pathsep.join(path), **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, output.decode()


@asynccontextmanager
async def opened(environment: Mapping[str, str]) -> AsyncIterator[UseCases]:
    async with open_phoneprov(read_settings(environment)) as use_cases:
        yield use_cases


async def populate(environment: Mapping[str, str]) -> Profile:
    """Add secrets of each kind to an existing database."""
    container = prepare(read_settings(environment))
    async with running(container):
        use_cases = container.use_cases()
        async with container.database().write() as tx:
            await tx.users.add(a_user(1))
        secret = CreateExtension(type="chan_sccp", extension="1001", name="Ada", password="engine")
        await use_cases.extensions.create(ACTOR, secret)
        new = CreateProfile(user_uuid=ACTOR.user_uuid, name="Ada", cnf_xml="<device>1</device>")
        profile = await use_cases.profiles.create(ACTOR, new)
        patch = ProfilePatch(cnf_xml="<device>2</device>")
        return await use_cases.profiles.update(ACTOR, profile.uuid, patch)


class Writing:
    """Writes contacts continuously."""

    def __init__(self, use_cases: UseCases) -> None:
        self.answered = 0
        self._use_cases = use_cases

    async def go(self) -> None:
        while True:
            contact = CreateCompanyContact(name=f"{self.answered:05}")
            await self._use_cases.company_directory.create(ACTOR, contact)
            self.answered += 1
            await asyncio.sleep(0.002)

    async def some(self) -> None:
        enough = self.answered + 20
        await until(lambda: self.answered >= enough)


async def back_up(script: str, environment: Mapping[str, str]) -> tuple[int, int]:
    """Run commands during the writes: the number of changes answered before, and the time of the
    end."""
    async with opened(environment) as use_cases:
        writing = Writing(use_cases)
        task = asyncio.create_task(writing.go())
        await writing.some()
        before = writing.answered
        await run_script(script, environment)
        after = writing.answered
        await writing.some()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    return before, after


async def check_restored(
    environment: Mapping[str, str], profile: Profile, kept: tuple[int, int]
) -> None:
    """Check that every change is stored, readable and can be changed."""
    async with opened(environment) as use_cases:
        assert await use_cases.profiles.get(ACTOR, profile.uuid) == profile
        revisions = await (await use_cases.profiles.revisions(ACTOR, profile.uuid)).everything()
        assert [revision.number for revision in revisions] == [1, 2]
        extensions = await (await use_cases.extensions.all(ACTOR)).everything()
        assert [extension.password for extension in extensions] == ["engine"]
        contacts = await (await use_cases.company_directory.all(ACTOR)).everything()
        names = sorted(contact.name for contact in contacts)
        assert kept[0] <= len(names) <= kept[1] + 1
        assert names == [f"{number:05}" for number in range(len(names))]
        patch = ProfilePatch(cnf_xml="<device>3</device>")
        assert (
            await use_cases.profiles.update(ACTOR, profile.uuid, patch)
        ).cnf_xml == patch.cnf_xml


async def test_sqlite_backup_page_restores_the_database(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    backup.mkdir()
    environment = {"PHONEPROV_DATA_DIR": str(data), "BACKUP": str(backup)}
    to_back_up, to_restore = commands("SQLite")
    data_folder.populate(data)
    profile = await populate(environment)

    kept = await back_up(to_back_up, environment)
    async with opened(environment) as use_cases:
        await use_cases.profiles.delete(ACTOR, profile.uuid)
        last_written = (data / "phoneprov.db-wal").read_bytes()
    # Worse than after a crash: of the old database only the latest writes remain.
    shutil.rmtree(data)
    data.mkdir()
    (data / "phoneprov.db-wal").write_bytes(last_written)
    await run_script(to_restore, environment)

    modes = {
        file.name: file.stat().st_mode & 0o777 for file in (*backup.iterdir(), *data.iterdir())
    }
    await check_restored(environment, profile, kept)
    connection = sqlite3.connect(data / "phoneprov.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    assert {modes[name] for name in ("phoneprov.db", "secret.key", "phoneprov.backup")} == {0o600}


def address(url: str) -> dict[str, str]:
    return {"PHONEPROV_DATABASE_URL": url, "DATABASE": url.replace("+asyncpg", "")}


async def test_postgres_backup_page_restores_the_database(tmp_path: Path) -> None:
    environment = {
        "PHONEPROV_DATA_DIR": str(tmp_path / "data"),
        "PHONEPROV_SECRET_KEYS": "the key of the backups of the tests",
        "BACKUP": str(tmp_path),
    }
    to_back_up, to_restore = commands("PostgreSQL")
    async with new_database() as old, new_database(migrated=False) as new:
        live = environment | address(old)
        profile = await populate(live)
        kept = await back_up(to_back_up, live)
        async with opened(live) as use_cases:
            await use_cases.profiles.delete(ACTOR, profile.uuid)

        for url in (new, old):
            restored = environment | address(url)
            await run_script(to_restore, restored)
            await check_restored(restored, profile, kept)
