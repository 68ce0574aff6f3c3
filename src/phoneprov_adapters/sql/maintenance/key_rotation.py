"""Key rotation: which keys the stored secrets need, and encrypting secrets with a new key."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from msgspec import Struct

from phoneprov_adapters.security.crypto import Sealed, SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.stores.sealed import (
    HASHES,
    PINS,
    SEALED_COLUMNS,
    TOKENS,
    KeyUse,
    SqlSecrets,
)
from phoneprov_adapters.sql.tables.columns import SealedColumn
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Event
from phoneprov_core.kernel.errors import WrongKey
from phoneprov_core.kernel.ports import ReadAndWrite

PIECE = 16
"""Maximum number of secrets sealed per transaction: each may have 512 KiB, and other writers
wait."""

Progress = Callable[[int, int], None]
"""Called with the number of secrets done and the total."""


class MissingKeys(Exception):
    """Secrets need keys that are not configured; ``key_ids`` names the keys."""

    def __init__(self, key_ids: tuple[str, ...]) -> None:
        super().__init__(", ".join(key_ids))
        self.key_ids = key_ids


class KeyStatus(Struct, frozen=True):
    """The ids of the configured keys, and the number of secrets per key. The first key encrypts.
    The keys in ``pins_only`` verify PINs and decrypt nothing."""

    configured: tuple[str, ...]
    uses: tuple[KeyUse, ...]
    pins_only: tuple[str, ...] = ()

    @property
    def current(self) -> str:
        """The key that encrypts."""
        return self.configured[0]

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys that are needed and not configured, or are needed for sealed values and configured
        for PINs only. An API token without its key is not valid; nothing else needs that key."""
        needed = (use for use in self.uses if use.what != TOKENS)
        return tuple(sorted({use.key_id for use in needed if not self._serves(use)}))

    @property
    def outdated(self) -> tuple[KeyUse, ...]:
        """Values encrypted with an old key."""
        return tuple(use for use in self.uses if use.key_id != self.current)

    def of(self, key_id: str) -> tuple[KeyUse, ...]:
        """The values that need one key."""
        return tuple(use for use in self.uses if use.key_id == key_id)

    def _serves(self, use: KeyUse) -> bool:
        keys = (*self.configured, *self.pins_only) if use.what == PINS else self.configured
        return use.key_id in keys


class Rotated(Struct, frozen=True):
    """The result of a rotation: the number of secrets that were sealed again, the places of
    unchanged secrets that cannot be decrypted, and the new status."""

    count: int
    unreadable: tuple[str, ...]
    status: KeyStatus


class KeyRotation:
    """Key rotation for one database, also while services use it."""

    def __init__(
        self, database: ReadAndWrite[SqlTransaction], keys: SecretKeys, box: SecretBox
    ) -> None:
        self._database = database
        self._configured = tuple(key.id for key in keys)
        self._pins_only = tuple(key.id for key in keys.pins_only)
        self._box = box

    async def status(self) -> KeyStatus:
        """The number of secrets per key. Raises ``Unavailable``."""
        async with self._database.read() as tx:
            uses = tuple(await tx.secrets.uses())
        return KeyStatus(self._configured, uses, self._pins_only)

    async def end_sessions(self) -> int:
        """End every session of every account; returns the number of sessions. Raises
        ``Unavailable``."""
        async with self._database.write(by=SYSTEM_ACTOR) as tx:
            count = await tx.sessions.end_every()
            tx.trail.note(Event("session.ended", "session", None, {"sessions": count}))
            return count

    async def require_all(self) -> None:
        """Raises ``MissingKeys`` if a needed key is not configured, and ``Unavailable``. Counts
        nothing: the cost does not depend on the number of secrets."""
        async with self._database.read() as tx:
            uses = tuple(await tx.secrets.needed())
        missing = KeyStatus(self._configured, uses, self._pins_only).missing
        if missing:
            raise MissingKeys(missing)

    async def pin_owners(self, key_id: str, limit: int) -> list[str]:
        """The names of users whose PIN needs a key. A PIN is stored as a hash, which only the user
        can renew: it needs its key until it is set again."""
        async with self._database.read() as tx:
            return await tx.secrets.pin_owners(key_id, limit)

    async def rotate(self, progress: Progress) -> Rotated:
        """Seal every secret of an older key with the current one, in small transactions.

        A secret that is changed concurrently is skipped, since the change seals it. Can be
        interrupted and repeated. Raises ``MissingKeys`` before the first change, and
        ``Unavailable``.
        """
        await self.require_all()
        status = await self.status()
        left = total = _outdated(status)
        count = 0
        unreadable: dict[str, None] = {}
        while left:
            for column in SEALED_COLUMNS:
                for key_id in self._configured[1:]:
                    async for anew, bad in self._pieces(column, key_id):
                        count += anew
                        unreadable |= dict.fromkeys(bad)
                        progress(count, max(count, total))
            status = await self.status()
            # Repeated while it makes progress: for rows that other transactions had locked.
            before, left = left, _outdated(status)
            if left >= before:
                break
        return Rotated(count, tuple(unreadable), status)

    async def _pieces(
        self, column: SealedColumn, key_id: str
    ) -> AsyncIterator[tuple[int, list[str]]]:
        """Rotate in pieces: the number of sealed secrets, and the places of the unreadable ones."""
        after, recorded = "", False
        while True:
            began = time.monotonic()
            async with self._database.write(by=SYSTEM_ACTOR) as tx:
                rows = await tx.secrets.under(column, key_id, PIECE, after=after)
                anew, bad = await self._sealed_anew(tx.secrets, column, rows)
                if anew and not recorded:
                    # One entry for each column and key: a piece has few secrets.
                    fields = {"secrets": column.what, "old_key": key_id}
                    tx.trail.note(Event("key.rotated", "key", self._configured[0], fields))
                    recorded = True
            yield anew, bad
            if len(rows) < PIECE:
                return
            after = rows[-1][0]
            # The pause leaves the database to other writers for the same time.
            await asyncio.sleep(time.monotonic() - began)

    async def _sealed_anew(
        self, secrets: SqlSecrets, column: SealedColumn, rows: Sequence[tuple[str, Sealed]]
    ) -> tuple[int, list[str]]:
        anew = 0
        bad = []
        for row, sealed in rows:
            place = column.place(row)
            try:
                plaintext = self._box.open(sealed, place)
            except WrongKey:
                bad.append(place)
                continue
            anew += await secrets.replace(column, row, sealed, self._box.seal(plaintext, place))
        return anew, bad


def _outdated(status: KeyStatus) -> int:
    """Number of sealed values that need another key than the current one."""
    return sum(use.count for use in status.outdated if use.what not in HASHES)
