"""Reading phones as of an earlier moment, and restoring them to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.occupancy import LOGIN_ENDED, OccupancyTransaction, UseBack
from phoneprov_core.features.history.model import (
    NEVER,
    Fields,
    HistoryQuery,
    HistoryStore,
    PastPhone,
    PastRow,
    Then,
    all_before,
    before,
    by_key,
    phone_of,
    then,
)
from phoneprov_core.features.lines.model import Number, holder_of
from phoneprov_core.inventory.extensions import CHAN_SCCP
from phoneprov_core.inventory.phones.model import Phone, plain_value, speaks_sip
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor, require_superadmin
from phoneprov_core.kernel.commands import wrong
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound
from phoneprov_core.kernel.ports import Clock, Listing, Page, ReadAndWrite, limit_by_key
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest, require_fitting
from phoneprov_core.switching.deployments.ports import ReplacementChain
from phoneprov_core.switching.deployments.records import Records
from phoneprov_core.switching.deployments.rollback import order_again
from phoneprov_core.switching.errors import PhoneInactive

PIECE = 500
"""Number of phones read at a time."""


class People(Struct, frozen=True):
    """Users, their links and extensions as of a moment, by uuid."""

    users: Mapping[str, Fields]
    extensions: Mapping[str, Fields]
    numbers: Mapping[str, tuple[str, ...]]
    """The numbers of chan_sccp of each active user, the oldest link first."""

    @classmethod
    def of(
        cls,
        users: Mapping[str, Fields],
        links: Mapping[str, Fields],
        extensions: Mapping[str, Fields],
    ) -> "People":
        """The people with these records."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        for uuid, link in links.items():
            user, extension = users.get(link["user_uuid"]), extensions.get(link["extension_uuid"])
            if user and user["is_active"] and extension and is_line(extension):
                place = link.get("created_at") or "", uuid, extension["extension"]
                found.setdefault(link["user_uuid"], []).append(place)
        numbers = {user: tuple(one[2] for one in sorted(of)) for user, of in found.items()}
        return cls(users, extensions, numbers)

    def lines(self, of: Then, at: str) -> tuple[str, ...] | None:
        """The numbers of the lines of a phone; None if they are not known."""
        if not of.phone.is_active:
            return ()
        if speaks_sip(of.phone.software_type):
            if of.message == NEVER:
                return ()
            return of.placed.numbers if of.placed and of.message is None else None
        own = self.extensions.get(of.own_number or "")
        is_own = own is not None and is_line(own)
        used = of.used(Number(own["extension"], "", voicemail=False) if own and is_own else None)
        holder = holder_of(used, at)
        if holder is not None:
            return self.numbers.get(holder, ())
        return (used.own.number,) if used.own else ()


def is_line(extension: Fields) -> bool:
    """Whether this is an active extension of chan_sccp."""
    return bool(extension["is_active"]) and extension["type"] == CHAN_SCCP


def past_phone(row: PastRow, of: Then, people: People, at: str) -> PastPhone:
    """The phone as it is shown."""
    phone, desk = of.phone, of.desk
    placed = of.placed if of.message is None else None
    user = people.users.get(desk.user_uuid or "")
    return PastPhone(
        mac=phone.mac,
        name=phone.name,
        location=phone.location,
        model=phone.model,
        is_active=phone.is_active,
        deployment_uuid=placed.uuid if placed else None,
        profile_uuid=placed.profile_uuid if placed else None,
        profile_name=placed.profile_name if placed else None,
        revision=placed.revision if placed else None,
        template_name=placed.template_name if placed else None,
        template_revision=placed.template_revision if placed else None,
        deployed_at=placed.created_at if placed else None,
        is_known=of.message in {None, NEVER},
        message=of.message,
        user_uuid=desk.user_uuid,
        username=user["username"] if user else None,
        since=desk.since,
        lines=people.lines(of, at),
        state=row.state,
        state_since=row.state_since,
    )


class HistoryTransaction(Protocol):
    """The store of earlier moments."""

    @property
    def history(self) -> HistoryStore: ...


async def require_kept(tx: HistoryTransaction, field: str, at: str, now: str) -> None:
    """Raises ``Invalid`` for a moment in the future, or before the oldest moment that is kept."""
    if at > now:
        raise wrong(field, "must not be in the future")
    oldest = await tx.history.oldest(at) or now
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
    """Reads the state of phones at an earlier moment; it requires level 0."""

    database: ReadAndWrite[HistoryTransaction]
    clock: Clock

    async def phones(
        self, actor: Actor, wanted: HistoryQuery, page: Page = None
    ) -> Listing[PastPhone]:
        """A page by key of the phones that were in the inventory at a moment, by MAC, without a
        total. The location is as recorded at the moment. Raises ``Forbidden``; ``Invalid`` for
        a moment in the future, or before the oldest moment that is kept."""
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
        return [past_phone(row, one, people, at) for row, one in chosen]


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
    changed = await history.link_changes(at, uuids)
    links = all_before(await history.links(uuids), changed)
    named = {link["extension_uuid"] for link in links.values()}
    named |= {one.own_number for one in phones if one.own_number}
    numbers = sorted(named)
    extensions = all_before(
        await history.extensions(numbers), await history.changes("extension", at, numbers)
    )
    return People.of(users, links, extensions)


class NotRestorable(Conflict):
    """What a phone had at an earlier moment cannot be given back."""

    usual = "What was on the phone at that moment cannot be restored: nothing was deployed to it."


class ReplacedPhones(ReplacementChain, Protocol):
    """The part of the store of replaced phones that a restore needs."""

    async def successor(self, mac: str) -> str | None:
        """The phone that took the place of this one last and is in the inventory, or None."""


class WayBackTransaction(OccupancyTransaction, HistoryTransaction, Protocol):
    """Stores that a restore to an earlier moment needs."""

    @property
    def replacements(self) -> ReplacedPhones: ...


async def order_as_of(
    tx: WayBackTransaction, records: Records, phone: Phone, at: str, location: str | None
) -> DeploymentRequest:
    """The order of exactly the text that a phone had at a moment. It restores the user of that
    moment, unless the login has ended since. Today's rights apply. With a ``location``, only while
    the phone is still there. Raises ``NotRestorable``."""
    now = timestamp(records.clock())
    earlier = await _deployment_at(tx, phone, at, location, now)
    try:
        order = await order_again(tx, SYSTEM_ACTOR, phone, earlier)
        require_fitting(order.profile, phone)
        order = await records.restored(tx, order, earlier)
    except Conflict as error:
        raise NotRestorable(error.message) from None
    except NotFound:
        gone = await tx.profiles.find(earlier.profile_uuid) is None
        why = "Its profile was deleted." if gone else "Its configuration is no longer stored."
        raise NotRestorable(why) from None
    back, desk = order.part(UseBack), await tx.desks.find(phone.mac)
    if desk.is_used(now) and desk.user_uuid == order.profile.user_uuid:
        order = replace(order.having(UseBack(desk.use_until(now))), note=None)
    elif back and back.use.user_uuid and await tx.history.changed_hands(phone.mac, earlier.number):
        order = replace(order.having(UseBack(back.use.ended())), note=LOGIN_ENDED)
    return replace(order, checks_rights=True)


async def _deployment_at(
    tx: WayBackTransaction, phone: Phone, at: str, location: str | None, now: str
) -> Deployment:
    """The deployment whose file was on the phone. Raises ``NotRestorable``."""
    try:
        await require_kept(tx, "as_of", at, now)
    except Invalid:
        raise NotRestorable("Records of that time were removed.") from None
    if not phone.is_active:
        after = await tx.replacements.successor(phone.mac)
        raise NotRestorable(f"It was replaced by {after}." if after else PhoneInactive.usual)
    if not is_at(phone, location):
        raise NotRestorable("It is at another location now.")
    rows = await tx.history.phones(at, mac=phone.mac)
    for row, past in await phones_then(tx, at, rows):
        if past.created_at != phone.created_at:
            raise NotRestorable("It was deleted and created again since.")
        of = then(row, past, at)
        found = await tx.deployments.find(of.placed.uuid) if of.placed else None
        if of.message is not None or found is None:
            raise NotRestorable(of.message or "Records of that time were removed.")
        return found
    raise NotRestorable("It was not in the inventory at that moment.")


async def notes_on(
    tx: WayBackTransaction, phone: Phone, order: DeploymentRequest, now: str
) -> list[str]:
    """The differences from the earlier moment, besides the file, after an order of
    ``order_as_of``."""
    notes = [order.note] if order.note else []
    back, desk = order.part(UseBack), await tx.desks.find(phone.mac)
    if desk.is_used(now) and (back is None or back.use.user_uuid != desk.user_uuid):
        notes.append("Its user of now would be logged out.")
    return notes
