"""Reading phones as of an earlier moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from phoneprov_core.features.history.model import (
    HistoryQuery,
    HistoryStore,
    PastPhone,
    PastRow,
    People,
    Then,
    all_before,
    before,
    by_key,
    phone_of,
    shown,
    then,
)
from phoneprov_core.inventory.phones.model import Phone, plain_value
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import wrong
from phoneprov_core.kernel.paging import Listing, Page, limit_by_key
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, timestamp
from phoneprov_core.people.access import require_superadmin

PIECE = 1000
"""Number of phones read at a time."""


class HistoryTransaction(Protocol):
    """The store of earlier moments."""

    @property
    def history(self) -> HistoryStore: ...


async def require_kept(tx: HistoryTransaction, field: str, at: str, now: str) -> None:
    """Raises ``Invalid`` for a moment in the future, or before the oldest one that is kept."""
    if at > now:
        raise wrong(field, "must not be in the future")
    oldest = await tx.history.oldest() or now
    if at < oldest:
        raise wrong(field, f"must not be before {oldest}, the oldest moment that is kept")


async def phones_then(
    tx: HistoryTransaction, at: str, rows: Sequence[PastRow]
) -> list[tuple[PastRow, Phone]]:
    """The phones of these rows that were in the inventory at the moment, as they were recorded."""
    undone = by_key(await tx.history.changes("phone", at, [row.mac for row in rows]))
    found = []
    for row in rows:
        changes = undone.get(row.mac)
        if changes is None:
            if row.phone is not None:
                found.append((row, row.phone))
            continue
        now = row.phone
        fields = before(
            None if now is None else {name: getattr(now, name) for name in now.__struct_fields__},
            changes,
        )
        if fields is not None:
            found.append((row, phone_of(row.mac, fields)))
    return found


@dataclass(frozen=True)
class History:
    """Reads what phones had at an earlier moment; it requires level 0."""

    database: ReadAndWrite[HistoryTransaction]
    clock: Clock

    async def phones(
        self, actor: Actor, wanted: HistoryQuery, page: Page = None
    ) -> Listing[PastPhone]:
        """A page by key of the phones that were in the inventory at a moment, by MAC, without a
        total. The location is the one that was recorded then. Raises ``Forbidden``; ``Invalid`` for
        a moment in the future, or before the oldest one that is kept."""
        require_superadmin(actor)
        now = timestamp(self.clock())
        at, after, found = wanted.at or now, wanted.after or "", list[PastPhone]()
        limit = limit_by_key(page, "a moment")
        async with self.database.read() as tx:
            await require_kept(tx, "at", at, now)
        while len(found) < limit:
            size = PIECE if wanted.location else min(PIECE, limit - len(found))
            async with self.database.read() as tx:
                rows = await tx.history.phones(at, after=after, limit=size, mac=wanted.mac)
                found += await self._shown(tx, at, wanted.location, rows)
            if wanted.mac or len(rows) < size:
                break
            after = rows[-1].mac
        return Listing(found[:limit])

    async def _shown(
        self, tx: HistoryTransaction, at: str, location: str | None, rows: Sequence[PastRow]
    ) -> list[PastPhone]:
        chosen = [
            (row, then(row, phone, at))
            for row, phone in await phones_then(tx, at, rows)
            if is_at(phone, location)
        ]
        people = await _people(tx, at, [one for _, one in chosen])
        return [shown(row, one, people, at) for row, one in chosen]


def is_at(phone: Phone, location: str | None) -> bool:
    """Whether a phone is at a location; None is every location."""
    return not location or (
        plain_value("location", phone.location) == plain_value("location", location)
    )


async def _people(tx: HistoryTransaction, at: str, phones: Sequence[Then]) -> People:
    """Users, links and extensions of these phones at the moment."""
    if not phones:
        return People({}, {}, {})
    of = {one.desk.user_uuid for one in phones} | {
        one.owner[0] for one in phones if one.owner is not None
    }
    uuids = sorted(filter(None, of))
    history = tx.history
    users = all_before(await history.users(uuids), await history.changes("user", at, uuids))
    changed = [
        one for one in await history.changes("link", at) if one.verb in {"created", "deleted"}
    ]
    links = {
        key: link
        for key, link in all_before(await history.links(uuids), changed).items()
        if link["user_uuid"] in users
    }
    named = {link["extension_uuid"] for link in links.values()}
    named |= {one.own_number for one in phones if one.own_number}
    numbers = sorted(named)
    extensions = all_before(
        await history.extensions(numbers), await history.changes("extension", at, numbers)
    )
    return People.of(users, links, extensions)
