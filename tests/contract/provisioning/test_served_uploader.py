"""The contract kit over the uploader that stores files in the database."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.security.crypto import Sealed, SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.serving.uploader import ServedUploader
from phoneprov_adapters.testing import UploaderContract, UploaderRig
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import DiskFull, Refused, Unavailable
from phoneprov_core.switching.devices.ports import Upload
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.stores import DATABASES, KEY

BOX = SecretBox(SecretKeys.parse(KEY))


class TestServedUploader(UploaderContract):
    """With SQLite, whose file the test reads and writes directly."""

    @pytest.fixture
    async def rig(self, tmp_path: Path) -> AsyncIterator[UploaderRig]:
        closed = MemoryDatabase()
        await closed.close()
        file = tmp_path / "phoneprov.db"
        async with DATABASES["sqlite"](tmp_path) as database:
            yield UploaderRig(
                ServedUploader(database),
                "served",
                read=lambda: _read(file),
                write=lambda name, content: _write(file, name, content),
                broken=ServedUploader(closed),
                # An upload leaves only the file itself.
                leftover=lambda name: name,
            )


async def test_file_that_the_database_loses_is_not_uploaded(tmp_path: Path) -> None:
    async with DATABASES["sqlite"](tmp_path) as database:
        with closing(sqlite3.connect(tmp_path / "phoneprov.db")) as connection, connection:
            connection.execute(
                "create trigger loses after insert on served_files begin"
                " delete from served_files; end"
            )
        upload = Upload(None, "SEP001BD4000001.cnf.xml", b"x", "a")
        with pytest.raises(Refused, match="returned different content than was stored"):
            await ServedUploader(database).upload(upload)


def _read(file: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(
            "select name_key, name, content_key_id, content_sealed from served_files"
        ).fetchall()
    return {name: BOX.open(Sealed(key_id, data), _place(key)) for key, name, key_id, data in rows}


def _write(file: Path, name: str, content: bytes) -> None:
    key = name.lower()
    sealed = BOX.seal(content, _place(key))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "insert or replace into served_files values (?, ?, ?, ?, 'by hand')",
            (key, name, sealed.data, sealed.key_id),
        )


def _place(key: str) -> str:
    return f"served_files|content|{key}"


@pytest.mark.parametrize("is_stored", [True, False])
async def test_commit_whose_reply_is_lost_is_read_back(tmp_path: Path, is_stored: bool) -> None:
    async with DATABASES["sqlite"](tmp_path) as database:
        upload = Upload(None, "SEP001BD4000001.cnf.xml", b"x", "a")
        losing = _Losing(database, is_stored=is_stored)
        if is_stored:
            uploaded = await ServedUploader(losing).upload(upload)
            assert uploaded.size == 1
            return
        with pytest.raises(Refused, match="nothing was changed") as caught:
            await ServedUploader(losing).upload(upload)
        assert caught.value.code == "refused"


async def test_file_that_cannot_be_read_back_is_not_known(tmp_path: Path) -> None:
    async with DATABASES["sqlite"](tmp_path) as database:
        losing = _Losing(database, is_stored=True, is_read=False)
        with pytest.raises(Refused, match="not known whether") as caught:
            await ServedUploader(losing).upload(Upload(None, "SEP001BD4000001.cnf.xml", b"x", "a"))
    assert caught.value.code == OUTCOME_UNKNOWN


class _Losing:
    """A database that goes away with the commit of a transaction."""

    def __init__(self, database: Any, *, is_stored: bool, is_read: bool = True) -> None:
        self._database, self._is_stored, self._is_read = database, is_stored, is_read

    @asynccontextmanager
    async def write(self, *, by: Actor) -> AsyncIterator[Any]:
        async with self._database.write(by=by) as tx:
            yield tx
            if not self._is_stored:
                raise DiskFull
        raise Unavailable("The outcome of the commit is unknown.")

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        if not self._is_read:
            raise Unavailable
        async with self._database.read() as tx:
            yield tx
