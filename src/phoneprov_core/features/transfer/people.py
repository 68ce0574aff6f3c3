"""PINs, and links of users to extensions, as rows of tables: a user is named by username."""

import asyncio
import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from phoneprov_core.features.transfer.importing import PIECE
from phoneprov_core.features.transfer.model import (
    OWNER,
    Joined,
    Row,
    RowOutcome,
    Table,
    TransferTransaction,
    WholeTable,
    named_user,
)
from phoneprov_core.features.transfer.sheets import spoiled, tidied
from phoneprov_core.inventory.links import CreateLink, FullLink, Links
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of, invalid, wrong
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.ports import Rows, listing
from phoneprov_core.people.vendor_users import CreatePin, PinHasher, VendorUsers

_PIN = "pin_code"
_NUMBER = "extension"
PINS = WholeTable((OWNER, _PIN), (OWNER, _PIN))
LINKS = WholeTable((OWNER, _NUMBER), (OWNER, _NUMBER))
_HASHES_AT_A_TIME = 8


def link_row(link: FullLink) -> dict[str, Any]:
    """A link as a row of ``LINKS``."""
    return {OWNER: link.username, _NUMBER: link.extension}


def _numbers_of(row: Row) -> dict[str, str]:
    cells = tidied(row.cells)
    if problems := spoiled(cells):
        raise invalid(problems)
    return cells


def _pin_of(row: Row) -> CreatePin | None:
    """The PIN of a row; None for an empty cell. Raises ``Invalid``."""
    pin = _numbers_of(row).get(_PIN, "").strip()
    return command_of(CreatePin, {_PIN: pin}) if pin else None


async def pin_hashes(table: Table, hasher: PinHasher) -> dict[int, str]:
    """The hashes of the valid PINs, by line. They take long, and are computed before the
    transaction begins."""
    hashes: dict[int, str] = {}
    async for piece in table.pieces():
        pins: dict[int, str] = {}
        for row in piece:
            try:
                if isinstance(row, Row) and (pin := _pin_of(row)):
                    pins[row.line] = pin.pin_code
            except Invalid:
                continue  # it is reported when the rows are written
        lines = list(pins)
        for start in range(0, len(lines), _HASHES_AT_A_TIME):
            some = lines[start : start + _HASHES_AT_A_TIME]
            made = await asyncio.gather(*(hasher.hash_pin(pins[line]) for line in some))
            hashes.update(zip(some, made, strict=True))
    return hashes


class PinRows:
    """Writes the rows of one table with the ``hashes`` by line. A row sets the PIN of its user; an
    empty cell leaves it."""

    def __init__(
        self, tx: TransferTransaction, pins: VendorUsers, actor: Actor, hashes: Mapping[int, str]
    ) -> None:
        self._tx = tx
        self._pins = dataclasses.replace(pins, database=Joined(tx))
        self._actor = actor
        self._hashes = hashes
        self._lines: dict[str, int] = {}

    async def write(self, row: Row) -> RowOutcome:
        """See ``Write``."""
        owner = await named_user(self._tx.users, row.cells.get(OWNER, ""))
        earlier = self._lines.setdefault(owner, row.line)
        if earlier != row.line:
            raise wrong(OWNER, f"is on line {earlier} already")
        new = _pin_of(row)
        if new is None:
            return "unchanged"
        before = await self._tx.vendor_users.of_user(owner)
        # A dry run has no hashes: what it stores is undone.
        hash_ = self._hashes.get(row.line, "")
        await self._pins.save(self._actor, owner, new, hash_=hash_)
        return "created" if before is None else "updated"


class LinkRows:
    """Writes the rows of one table. A row links its user to the extension with its number, unless
    they are linked. The oldest link is the first line of a phone: each link of a user is a
    millisecond older than the next."""

    def __init__(self, tx: TransferTransaction, links: Links, actor: Actor) -> None:
        self._tx = tx
        self._links = dataclasses.replace(links, database=Joined(tx), clock=self._next_moment)
        self._clock = links.clock
        self._actor = actor
        self._owner = ""
        self._latest: dict[str, datetime] = {}
        self._numbers: dict[str, str] | None = None
        self._linked: dict[str, set[str]] = {}

    async def write(self, row: Row) -> RowOutcome:
        """See ``Write``."""
        owner = await named_user(self._tx.users, row.cells.get(OWNER, ""))
        number = _numbers_of(row).get(_NUMBER, "").strip()
        extension = (await self._extensions()).get(number)
        if extension is None:
            raise wrong(_NUMBER, "is the number of no extension" if number else "is required")
        linked = await self._extensions_of(owner)
        if extension in linked:
            return "unchanged"
        new = CreateLink(user_uuid=owner, extension_uuid=extension)
        self._owner = owner
        await self._links.create(self._actor, new)
        linked.add(extension)
        return "created"

    def _next_moment(self) -> datetime:
        now = self._clock()
        if (latest := self._latest.get(self._owner)) is not None:
            now = max(now, latest + timedelta(milliseconds=1))
        self._latest[self._owner] = now
        return now

    async def _extensions(self) -> Mapping[str, str]:
        """All numbers, read once: a look-up for each row would read all extensions for each."""
        if self._numbers is None:
            self._numbers = {
                one.extension: one.uuid for one in await self._all(self._tx.extensions)
            }
        return self._numbers

    async def _extensions_of(self, owner: str) -> set[str]:
        if owner not in self._linked:
            links = await self._all(self._tx.links.extensions, owner)
            self._linked[owner] = {link.extension_uuid for link in links}
        return self._linked[owner]

    async def _all(self, rows: Rows[Any], owner: str | None = None) -> list[Any]:
        joined = Joined(self._tx)
        return await (
            await listing(joined.read, lambda _: rows, piece=PIECE, owner=owner)
        ).everything()
