"""Keys are rotated while the service serves: all secrets are encrypted again and none is lost."""

import asyncio
from types import SimpleNamespace

import pytest
from sqlalchemy import LargeBinary, bindparam, update

from phoneprov_adapters.security.crypto import Sealed
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.maintenance import key_rotation
from phoneprov_adapters.sql.maintenance.key_rotation import PIECE, MissingKeys
from phoneprov_adapters.sql.stores.sealed import PINS, SEALED_COLUMNS
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.inventory import extensions
from phoneprov_core.kernel.errors import WrongKey
from support.keys import BOTH_KEYS, NEW_KEY, NEW_KEYS, OLD_KEY, OLD_KEYS
from support.records import identifier
from support.sealing import Sealer, Vault, expected, put_secrets, secrets_of, set_pin

COUNT = 2 * PIECE + 3
OLD_FIRST = SecretKeys.parse(f"{OLD_KEY},{NEW_KEY}")
OLD, NEW = OLD_KEYS.current.id, NEW_KEYS.current.id


def quiet(_done: int, _total: int) -> None:
    """A progress that nothing shows."""


async def key_ids(sealer: Sealer) -> dict[str, int]:
    """The number of encrypted values for each key."""
    counted: dict[str, int] = {}
    for use in (await sealer.rotation.status()).uses:
        if use.what != PINS:
            counted[use.key_id] = counted.get(use.key_id, 0) + use.count
    return counted


async def test_rotation_covers_every_encrypted_column(vault: Vault) -> None:
    """Each column is rotated with the binding that it has, and none is missing."""
    binary = {
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, LargeBinary)
    }
    assert {f"{column.what}_sealed" for column in SEALED_COLUMNS} == binary
    await vault.fill(OLD_KEYS, 2)

    async with vault.opened(OLD_KEYS) as sealer, sealer.database.write() as tx:
        for column in SEALED_COLUMNS:
            rows = await tx.secrets.under(column, OLD, 10)
            assert rows, f"no secret was put into {column.what}"
            for row, sealed in rows:
                assert sealer.box.open(sealed, column.place(row))
                with pytest.raises(WrongKey):
                    sealer.box.open(sealed, column.place(row + "x"))


async def test_rotation_encrypts_everything_with_the_new_key(vault: Vault) -> None:
    await vault.fill(OLD_KEYS, COUNT)
    reported: list[tuple[int, int]] = []

    async with vault.opened(BOTH_KEYS) as sealer:
        assert await key_ids(sealer) == {OLD: len(SEALED_COLUMNS) * COUNT}
        rotated = await sealer.rotation.rotate(lambda done, total: reported.append((done, total)))
        assert await key_ids(sealer) == {NEW: len(SEALED_COLUMNS) * COUNT}

    assert (rotated.count, rotated.unreadable) == (len(SEALED_COLUMNS) * COUNT, ())
    assert rotated.status.outdated == ()
    assert reported == sorted(reported)
    assert reported[-1] == (len(SEALED_COLUMNS) * COUNT, len(SEALED_COLUMNS) * COUNT)
    async with vault.opened(NEW_KEYS) as sealer, sealer.database.read() as tx:
        for number in range(1, COUNT + 1):
            assert await secrets_of(tx, number) == expected(number)


async def test_rotation_pauses_after_each_full_piece(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(key_rotation, "asyncio", SimpleNamespace(sleep=pause))
    await vault.fill(OLD_KEYS, COUNT)
    async with vault.opened(BOTH_KEYS) as sealer:
        await sealer.rotation.rotate(quiet)

    assert len(pauses) >= len(SEALED_COLUMNS)
    assert min(pauses) > 0


async def test_rotation_skips_secrets_of_the_current_key(vault: Vault) -> None:
    await vault.fill(NEW_KEYS, 2)

    async with vault.opened(BOTH_KEYS) as sealer:
        async with sealer.database.write() as tx:
            before = [await tx.secrets.under(column, NEW, 10) for column in SEALED_COLUMNS]
        rotated = await sealer.rotation.rotate(quiet)
        async with sealer.database.write() as tx:
            after = [await tx.secrets.under(column, NEW, 10) for column in SEALED_COLUMNS]

    assert rotated.count == 0
    assert before == after


async def test_rotation_keeps_concurrent_changes(vault: Vault) -> None:
    await vault.fill(OLD_KEYS, 1)
    (password, *_) = SEALED_COLUMNS

    async with vault.opened(BOTH_KEYS) as sealer:
        async with sealer.database.write() as tx:
            ((row, before),) = await tx.secrets.under(password, OLD, 10)
        async with sealer.database.write() as tx:
            await put_secrets(tx, 1, "after")
        late = sealer.box.seal(b"password before 1", password.place(row))
        async with sealer.database.write() as tx:
            assert not await tx.secrets.replace(password, row, before, late)
        async with sealer.database.read() as tx:
            assert await secrets_of(tx, 1) == expected(1, "after")


@pytest.mark.parametrize("writers_keys", [BOTH_KEYS, OLD_FIRST], ids=["new first", "old first"])
async def test_changes_during_a_rotation_succeed(vault: Vault, writers_keys: SecretKeys) -> None:
    """By a process with the new key first, and by one that was not restarted yet."""
    await vault.fill(OLD_KEYS, COUNT)
    last: dict[int, str] = {}
    begun, over = asyncio.Event(), asyncio.Event()

    async def change(writer: Sealer, of: int) -> None:
        await begun.wait()
        number, times = of, 0
        while not over.is_set() or times < COUNT:
            times += 1
            number = number % COUNT + 1
            async with writer.database.write() as tx:
                await put_secrets(tx, number, f"by {of} at {times}")
                last[number] = f"by {of} at {times}"
            # SQLite has no queue between processes: a writer without pauses can starve others.
            await asyncio.sleep(0.005)

    def progress(_done: int, _total: int) -> None:
        begun.set()

    async with vault.opened(BOTH_KEYS) as sealer, vault.opened(writers_keys) as writer:
        changing = [asyncio.create_task(change(writer, of)) for of in (1, COUNT // 2)]
        await sealer.rotation.rotate(progress)
        over.set()
        await asyncio.gather(*changing)
        await sealer.rotation.rotate(progress)
        assert set(await key_ids(sealer)) == {NEW}

    async with vault.opened(NEW_KEYS) as after, after.database.read() as tx:
        for number in range(1, COUNT + 1):
            word = last.get(number, "before")
            assert await secrets_of(tx, number) == expected(number, word)


async def test_rotation_skips_locked_rows(vault: Vault) -> None:
    if vault.url.startswith("sqlite"):
        pytest.skip("SQLite has one writer at a time: no row is locked")
    await vault.fill(OLD_KEYS, 3)

    async with vault.opened(BOTH_KEYS) as sealer, vault.opened(BOTH_KEYS) as other:
        async with other.database.write() as tx:
            held = await tx.deployments.find(identifier(2))
            assert held is not None
            async with asyncio.timeout(60):
                rotated = await sealer.rotation.rotate(quiet)
            assert rotated.count == len(SEALED_COLUMNS) * 3 - 1
            assert await key_ids(sealer) == {NEW: len(SEALED_COLUMNS) * 3 - 1, OLD: 1}
            await tx.deployments.put(held)
        assert (await sealer.rotation.rotate(quiet)).status.outdated == ()


async def test_rotation_with_missing_key_changes_nothing(vault: Vault) -> None:
    await vault.fill(OLD_KEYS, 1)
    await vault.fill(NEW_KEYS, 1, first=2)

    async with vault.opened(NEW_KEYS) as sealer:
        with pytest.raises(MissingKeys) as missing:
            await sealer.rotation.rotate(quiet)
        assert missing.value.key_ids == (OLD,)
        assert await key_ids(sealer) == {NEW: len(SEALED_COLUMNS), OLD: len(SEALED_COLUMNS)}


async def test_rotation_names_an_altered_secret_and_encrypts_the_others(vault: Vault) -> None:
    await vault.fill(OLD_KEYS, 3)
    alter = (
        update(extensions)
        .where(extensions.c.uuid == bindparam("the_uuid"))
        .values(password_sealed=bindparam("sealed"))
        .returning(extensions.c.uuid)
    )

    async with vault.opened(BOTH_KEYS) as sealer:
        async with sealer.database.write() as tx:
            await tx.users._connection.fetch_all(
                alter, the_uuid=identifier(2), sealed=b"altered" * 9
            )
        rotated = await sealer.rotation.rotate(quiet)

        assert rotated.count == len(SEALED_COLUMNS) * 3 - 1
        assert rotated.unreadable == (f"extensions|password|{identifier(2)}",)
        assert await key_ids(sealer) == {NEW: len(SEALED_COLUMNS) * 3 - 1, OLD: 1}


async def test_pin_requires_its_key_until_it_is_set_again(vault: Vault) -> None:
    async with vault.opened(OLD_KEYS) as old:
        await set_pin(old, 2, "Bob")
        await set_pin(old, 1, "ada")

    async with vault.opened(BOTH_KEYS) as sealer:
        rotated = await sealer.rotation.rotate(quiet)
        assert [(use.what, use.key_id, use.count) for use in rotated.status.outdated] == [
            (PINS, OLD, 2)
        ]
        assert await sealer.rotation.pin_owners(OLD, 10) == ["ada", "Bob"]
        assert await sealer.rotation.pin_owners(OLD, 1) == ["ada"]
        await set_pin(sealer, 1, "ada")
        assert await sealer.rotation.pin_owners(OLD, 10) == ["Bob"]
        assert await sealer.rotation.pin_owners(NEW, 10) == ["ada"]

    async with vault.opened(NEW_KEYS) as sealer:
        with pytest.raises(MissingKeys):
            await sealer.rotation.require_all()


async def test_encrypted_value_reveals_only_key_and_length() -> None:
    assert repr(Sealed(NEW, b"canary")) == f"Sealed({NEW}, 6 bytes)"
