"""The stored form of an extension's secrets."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.kernel.errors import WrongKey
from support.records import an_extension, identifier
from support.stores import DATABASES, KEY

ONE = an_extension(1, password="line secret one", voicemail_passcode="97531")
TWO = an_extension(2, password="line secret two", voicemail_passcode="86420")
PLAIN = [b"line secret", b"97531", b"86420"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "phoneprov.db"


@pytest_asyncio.fixture(loop_scope="session")
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with DATABASES["sqlite"](tmp_path) as database:
        async with database.write() as tx:
            await tx.extensions.add(ONE)
            await tx.extensions.add(TWO)
        yield database


async def run(file: Path, sql: str, *values: Any) -> list[Any]:
    def work() -> list[Any]:
        connection = sqlite3.connect(file)
        try:
            with connection:
                return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    return await asyncio.to_thread(work)


async def find(database: Database | SqliteDatabase, uuid: str) -> Extension | None:
    async with database.read() as tx:
        return await tx.extensions.find(uuid)


async def test_secrets_are_not_readable_in_the_files(database: Database, file: Path) -> None:
    async with database.write() as tx:
        await tx.extensions.put(an_extension(1, password="line secret three"))
    written = b"".join([path.read_bytes() for path in file.parent.iterdir()])

    # The number of an extension is not secret: it shows that these are the right files.
    assert ONE.extension.encode() in written
    assert [plain for plain in PLAIN if plain in written] == []


async def test_passcode_not_set_is_stored_as_null(database: Database, file: Path) -> None:
    async with database.write() as tx:
        await tx.extensions.put(an_extension(1, voicemail_passcode=None))
        await tx.extensions.put(an_extension(2, voicemail_passcode=""))

    columns = "voicemail_passcode_sealed, voicemail_passcode_key_id"
    rows = await run(file, f"SELECT {columns} FROM extensions ORDER BY uuid")  # noqa: S608

    assert rows[0] == (None, None)
    assert None not in rows[1]
    assert await find(database, TWO.uuid) == an_extension(2, voicemail_passcode="")


@pytest.mark.parametrize("column", ["password_sealed", "voicemail_passcode_sealed"])
async def test_secret_of_another_row_is_not_decrypted(
    database: Database, file: Path, column: str
) -> None:
    await run(
        file,
        f"UPDATE extensions SET {column} ="  # noqa: S608
        f" (SELECT {column} FROM extensions WHERE uuid = ?) WHERE uuid = ?",
        TWO.uuid,
        ONE.uuid,
    )

    assert await find(database, TWO.uuid) == TWO
    with pytest.raises(WrongKey) as wrong:
        await find(database, ONE.uuid)
    assert "97531" not in repr(wrong.value)


async def test_passcode_is_not_decrypted_as_a_password(database: Database, file: Path) -> None:
    await run(file, "UPDATE extensions SET password_sealed = voicemail_passcode_sealed")

    with pytest.raises(WrongKey):
        await find(database, ONE.uuid)


async def test_updated_extension_is_encrypted_with_the_current_key(
    database: Database, file: Path
) -> None:
    rotated = SecretKeys.parse(f"a newer key of the tests 0123456789abcdef,{KEY}")
    newer = SqliteDatabase(file, SecretBox(rotated))
    await newer.open()
    try:
        assert await find(newer, ONE.uuid) == ONE
        async with newer.write() as tx:
            await tx.extensions.put(ONE)
        assert await find(newer, ONE.uuid) == ONE
    finally:
        await newer.close()

    keys = await run(
        file, "SELECT password_key_id, voicemail_passcode_key_id FROM extensions ORDER BY uuid"
    )
    old = SecretKeys.parse(KEY).current.id
    assert keys == [(rotated.current.id, rotated.current.id), (old, old)]
    with pytest.raises(WrongKey):
        await find(database, identifier(1))
