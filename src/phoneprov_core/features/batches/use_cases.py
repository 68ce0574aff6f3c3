"""Starting, reading and cancelling batches."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta

from phoneprov_core.features.batches.commands import CreateBatch, WantedPhones
from phoneprov_core.features.batches.model import (
    MOST_DAYS,
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
)
from phoneprov_core.features.batches.ports import BatchesTransaction, BatchItem, NoPhones
from phoneprov_core.features.batches.results import halt
from phoneprov_core.features.batches.rules import pin
from phoneprov_core.features.history.use_cases import PIECE as PAST_PIECE, phones_then, require_kept
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Actor, Event, require_superadmin
from phoneprov_core.kernel.commands import invalid, record_of, wrong
from phoneprov_core.kernel.errors import NotFound, Problem, require
from phoneprov_core.kernel.ports import (
    NEWEST,
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    limit_by_key,
    listing,
)
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.switching.deployments.model import Confirmation
from phoneprov_core.switching.deployments.ports import Background

PIECE = 1000
"""Number of phones read at a time."""

_ALL = 2**31 - 1
"""A position after the last phone of every batch."""

BATCHES_AT_A_TIME = 50
"""Maximum number of batches per piece of a list: the phones of each one are counted."""


@dataclass(frozen=True)
class Batches:
    """Batches of phones. They require level 0: permission to switch or restart one phone does not
    include batches. ``run`` processes open batches; starting a batch runs it in the background."""

    database: ReadAndWrite[BatchesTransaction]
    run: Callable[[], Awaitable[None]]
    background: Background
    clock: Clock
    new_id: NewId

    async def all(
        self, actor: Actor, page: Page = None, before: str | None = None
    ) -> Listing[Batch]:
        """All batches, oldest first. With ``before``, a page by key: the newest before that batch,
        newest first, without a total. Raises ``Forbidden``; ``NotFound`` if there is no batch
        ``before``."""
        require_superadmin(actor)
        if before is not None:
            limit, last = limit_by_key(page, "before"), None
            async with self.database.read() as tx:
                if before != NEWEST:
                    last = require(await tx.batches.find(known_id(before)), "batch")
                return Listing(await tx.batches.newest(limit, before=last))
        return await listing(
            self.database.read, lambda tx: tx.batches, page, piece=BATCHES_AT_A_TIME
        )

    async def get(self, actor: Actor, uuid: str) -> Batch:
        """One batch, with the current counts of its phones. Raises ``Forbidden`` and
        ``NotFound``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return require(await tx.batches.find(known_id(uuid)), "batch")

    async def phones(
        self, actor: Actor, uuid: str, wanted: WantedPhones | None = None, page: Page = None
    ) -> Listing[BatchPhone]:
        """The phones of one batch, by position. With ``after``, a page by key, without a total.
        Raises ``Forbidden`` and ``NotFound``."""
        batch = await self.get(actor, uuid)
        chosen = wanted or WantedPhones()
        if chosen.after is not None:
            limit = limit_by_key(page, "after")
            async with self.database.read() as tx:
                return Listing(await tx.batches.phones(batch.uuid, chosen).rows(limit))
        return await listing(
            self.database.read, lambda tx: tx.batches.phones(batch.uuid, chosen), page
        )

    async def is_watching(self, actor: Actor, uuid: str) -> bool:
        """Whether phones of a batch are still being watched after their restart. Raises
        ``Forbidden``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            groups = await tx.batches.first_phones(known_id(uuid), _ALL, timestamp(self.clock()))
        pending = Confirmation.PENDING
        return any(one.confirmation is pending and not one.is_lost for one in groups)

    async def start(self, actor: Actor, new: CreateBatch) -> Batch:
        """Store the batch and start processing it. Raises ``Forbidden``; ``NotFound`` for a
        profile, a revision or a listed phone that does not exist; ``Conflict`` (code ``no_phones``)
        if no active phone matches the filters; ``Invalid`` for a moment that is not kept, and for
        first phones that are not in the batch."""
        require_superadmin(actor)
        read, now = self.database.read, timestamp(self.clock())
        # The past does not change: it is read before the transaction, which others wait for.
        earlier = [piece async for piece in selected(read, new, now)] if new.as_of else None
        async with self.database.write(by=actor) as tx:
            require_future(new, self.clock)
            await require_known(tx, new)
            batch = await self._batch(tx, actor, new)
            await tx.batches.add(batch)
            total = 0
            pieces = selected(lambda: nullcontext(tx), new, now)
            async for targets in pieces if earlier is None else _each(earlier):
                phones = [
                    BatchItem(batch.uuid, position, mac, self.new_id(), profile_uuid=profile)
                    for position, (mac, profile) in enumerate(targets, total + 1)
                ]
                await tx.batches.add_phones(phones)
                total += len(phones)
            if not total:
                raise NoPhones
            await pin(tx, batch, is_given=new.revision is not None)
            batch = require(await tx.batches.find(batch.uuid), "batch")
            fields = {
                "action": batch.action.value,
                "profile_uuid": batch.profile_uuid,
                "revision": batch.revision,
                "phones": total,
                "start_at": batch.start_at,
                "as_of": batch.as_of,
            }
            tx.trail.note(Event("batch.created", "batch", batch.uuid, fields))
        self.background(self.run())
        return batch

    async def resume(self, actor: Actor, uuid: str) -> Batch:
        """Process a batch that no other process works on. Raises ``Forbidden`` and ``NotFound``."""
        batch = await self.get(actor, uuid)
        self.background(self.run())
        return batch

    async def cancel(self, actor: Actor, uuid: str) -> Batch:
        """Cancel a batch. Running phones finish. A batch that is not running stays as it is. Raises
        ``Forbidden`` and ``NotFound``."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            batch = require(await tx.batches.find(known_id(uuid)), "batch")
            if await halt(tx.batches, batch.uuid, BatchState.CANCELLED, None):
                tx.trail.note(Event("batch.cancelled", "batch", batch.uuid))
                if batch.state is BatchState.PLANNED:
                    halted = require(await tx.batches.find(batch.uuid), "batch")
                    await tx.batches.put(halted.finished(timestamp(self.clock())) or halted)
            return require(await tx.batches.find(batch.uuid), "batch")

    async def _batch(self, tx: BatchesTransaction, actor: Actor, new: CreateBatch) -> Batch:
        profile, revision = None, None
        if new.profile_uuid is not None:
            profile = require(await tx.profiles.find(new.profile_uuid), "profile")
            if new.revision is None:
                revision = require(await tx.revisions.newest(profile.uuid), "revision")
            else:
                revision = require(await tx.revisions.find(profile.uuid, new.revision), "revision")
        return record_of(
            Batch,
            new,
            uuid=self.new_id(),
            action=BatchAction(new.action),
            profile_uuid=None if profile is None else profile.uuid,
            profile_name=None if profile is None else profile.name,
            revision=None if revision is None or new.newest else revision.number,
            model=new.model or None,
            location=new.location or None,
            software_type=new.software_type or None,
            user_uuid=actor.user_uuid,
            state=BatchState.RUNNING if new.start_at is None else BatchState.PLANNED,
            created_at=timestamp(self.clock()),
            template=new.template or None,
            first=new.number_first or None,
        )


Target = tuple[str, str | None]
"""A phone, and its own profile if it has one."""


async def _each(pieces: list[list[Target]]) -> AsyncIterator[list[Target]]:
    for piece in pieces:
        yield piece


def require_future(new: CreateBatch, clock: Clock) -> None:
    """Raises ``Invalid`` for a batch that would begin in the past, or too late."""
    if new.start_at is None:
        return
    if new.start_at <= timestamp(clock()):
        raise wrong("start_at", "must be in the future")
    if new.start_at > timestamp(clock() + timedelta(days=MOST_DAYS)):
        raise wrong("start_at", f"must be at most {MOST_DAYS} days ahead")


async def require_known(tx: BatchesTransaction, new: CreateBatch) -> None:
    """Raises ``NotFound`` for a template, a profile, a revision or a phone that does not exist."""
    if new.template and not (
        await tx.templates.variants(new.template)
        or await tx.deployments.rendered_from(new.template)
    ):
        raise NotFound(f"There is no template {new.template}.")
    if new.profile_uuid is not None:
        require(await tx.profiles.find(new.profile_uuid), "profile")
        if new.revision is not None:
            require(await tx.revisions.find(new.profile_uuid, new.revision), "revision")
    for uuid in dict.fromkeys(item.profile_uuid for item in new.items or ()):
        if await tx.profiles.find(uuid) is None:
            raise NotFound(f"There is no profile {uuid}.")
    named = [*(new.macs or ()), *(one.mac for one in new.items or ()), *(new.first_macs or ())]
    for mac in await tx.phones.unknown(named):
        raise NotFound(f"There is no phone {mac} in the inventory.")


Read = Callable[[], AbstractAsyncContextManager[BatchesTransaction]]


async def selected(read: Read, new: CreateBatch, now: str) -> AsyncIterator[list[Target]]:
    """The requested phones, in pieces, each read in its own transaction; the phones of
    ``first_macs`` before the others. The filters of a batch as of an earlier moment select the
    phones of then. Raises ``Invalid`` for a moment that is not kept, and for first phones that are
    not requested."""
    first: dict[str, Target] = {}
    if new.first_macs:
        wanted = frozenset(new.first_macs)
        async for piece in _in_any_order(read, new, now):
            first |= {target[0]: target for target in piece if target[0] in wanted}
        if others := [mac for mac in new.first_macs if mac not in first]:
            raise invalid(
                [Problem("first_macs", f"names {mac}, which is not in the batch") for mac in others]
            )
        yield [first[mac] for mac in new.first_macs]
    async for piece in _in_any_order(read, new, now):
        yield [target for target in piece if target[0] not in first]


async def _in_any_order(read: Read, new: CreateBatch, now: str) -> AsyncIterator[list[Target]]:
    if new.as_of is not None:
        async with read() as tx:
            await require_kept(tx, "as_of", new.as_of, now)
    if new.items is not None or new.macs is not None:
        items = [(item.mac, item.profile_uuid) for item in new.items or ()]
        yield [*items, *((mac, None) for mac in new.macs or ())]
        return
    if new.as_of is not None:
        mac, size = "", PAST_PIECE
        while size == PAST_PIECE:
            async with read() as tx:
                rows = await tx.history.phones(new.as_of, after=mac, limit=PAST_PIECE)
                past = await phones_then(tx, new.as_of, rows)
            yield [(one.mac, None) for _, one in past if new.selects(one)]
            mac, size = rows[-1].mac if rows else "", len(rows)
        return
    async with read() as tx:
        rendered = await tx.deployments.rendered_from(new.template) if new.template else None
    last: Phone | None = None
    while True:
        async with read() as tx:
            phones = await tx.phones.rows(PIECE, after=last)
        if not phones:
            return
        yield [
            (phone.mac, None)
            for phone in phones
            if new.selects(phone) and (rendered is None or phone.mac in rendered)
        ]
        last = phones[-1]
