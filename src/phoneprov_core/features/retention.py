"""Removing old records: how long each kind is kept, and removal in small transactions."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.features.fleet.model import FleetStore
from phoneprov_core.features.fleet.use_cases import count_days
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Event, UseCaseTrail, Value
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.ports import Clock, Pause, Rate, RateStore, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.throttle import KEPT_UNKNOWN
from phoneprov_core.switching.deployments.model import Outcome

PIECE = 500
"""Maximum number of records per transaction."""
ONE_BATCH = 1
"""Maximum number of batches per transaction: a batch may have ten thousand phones."""
EVERY = Rate(1, 6 * 3600 * 1000)
"""How often the records of one database are pruned in the background, by one process of all."""
_LONGEST = timedelta(hours=5)
_LONGEST_PAUSE = 1.0


class Expiring(Enum):
    """The kinds of records that expire, removed in this order: deployments need their revisions."""

    DEPLOYMENTS = "deployments"
    BATCHES = "batches"
    FETCHES = "fetches"
    AUDIT = "audit"
    REVISIONS = "revisions"
    SESSIONS = "sessions"
    ATTEMPTS = "attempts"
    STATES = "states"
    DRILLS = "drills"
    DAYS = "days"


class KeepDays(Struct, frozen=True, kw_only=True):
    """Days that records are kept; 0 for ever."""

    deployments: int = 365
    fetches: int = 30
    audit: int = 365
    revisions: int = 365


Moment = str | int
"""A moment as text, or in milliseconds since 1970, as the record has it."""
Place = tuple[str | int, ...]
"""A position in the order of the records of a kind."""


class Piece(Struct, frozen=True):
    """A piece of the records of a kind, in their order: the position of its last record, and the
    number of its records that can be removed. Of deployments these are the ``keys``: a piece has
    all deployments of its phones."""

    last: Place
    removable: int
    keys: tuple[str, ...] = ()

    def parts(self) -> Iterator["Piece"]:
        """Pieces that remove at most ``PIECE`` records each."""
        yield from (
            Piece(self.last, len(keys), keys)
            for start in range(0, len(self.keys), PIECE)
            if (keys := self.keys[start : start + PIECE])
        )
        if not self.keys:
            yield self


OTHERS = 3
"""Number of other revisions after which one is no longer needed; see ``RetentionStore``."""


class PastDeployment(Struct, frozen=True):
    """A deployment as retention sees it. ``revision`` is None if its file was never in place, else
    the name of the deployed revision."""

    uuid: str
    created_at: str
    outcome: Outcome
    revision: tuple[str, int] | None


def unneeded(
    phone: Sequence[PastDeployment],
    before: str,
    has_text_of: Callable[[PastDeployment, PastDeployment], bool],
) -> list[str]:
    """The deployments of a phone, the newest first, that are removable before a moment (see
    ``RetentionStore``). Reads each once."""
    found: dict[str, None] = {}
    later: set[tuple[str, int]] = set()
    certain: set[tuple[str, int]] = set()
    then = _at(phone, before)
    for one in phone:
        is_needed = one is phone[0] or one.outcome is Outcome.RUNNING or one.uuid in then
        if one.revision is not None:
            is_needed |= one.revision not in certain and len(later) <= OTHERS
            if len(later) <= OTHERS:
                later.add(one.revision)
                if one.outcome not in _UNCERTAIN:
                    certain.add(one.revision)
        if not is_needed and one.created_at < before:
            found[one.uuid] = None
    if found:
        found.pop(_target(phone, has_text_of), None)
    return list(found)


_UNCERTAIN = {Outcome.UNKNOWN, Outcome.RUNNING}


def _at(phone: Sequence[PastDeployment], moment: str) -> set[str]:
    """What says which file the phone had at a moment: the last deployment before it that did not
    fail, and the last one whose file was certainly in place."""
    old = [one for one in phone if one.created_at < moment]
    begun = (one for one in old if one.outcome is not Outcome.FAILED)
    placed = (one for one in old if one.revision is not None and one.outcome not in _UNCERTAIN)
    return {one.uuid for one in (next(begun, None), next(placed, None)) if one is not None}


def _target(
    phone: Sequence[PastDeployment],
    has_text_of: Callable[[PastDeployment, PastDeployment], bool],
) -> str:
    """What a rollback of the phone deploys again: see ``rollback_target``."""
    placed = (one for one in phone if one.revision is not None)
    current = next(placed, None)
    for one in placed:
        assert current is not None
        if one.outcome is not Outcome.UNKNOWN and not has_text_of(one, current):
            return one.uuid
    return ""


class Pruned(Struct, frozen=True):
    """The result for one kind of record."""

    kind: Expiring
    count: Annotated[int, schema("Number of records removed", minimum=0)]
    message: str | None = None
    """The reason why no more could be removed."""


def limits(keep: KeepDays, now: datetime) -> Mapping[Expiring, Moment]:
    """The moment before which records of each kind may be removed; kinds kept for ever are left
    out."""
    days = {
        Expiring.DEPLOYMENTS: keep.deployments,
        Expiring.BATCHES: keep.deployments,
        Expiring.FETCHES: keep.fetches,
        Expiring.AUDIT: keep.audit,
        Expiring.REVISIONS: keep.revisions,
        Expiring.STATES: keep.deployments,
        Expiring.DRILLS: keep.deployments,
        Expiring.DAYS: keep.deployments,
    }
    found: dict[Expiring, Moment] = {
        kind: timestamp(_before(now, number)) for kind, number in days.items() if number
    }
    found[Expiring.SESSIONS] = millis(now)
    found[Expiring.ATTEMPTS] = millis(now) - KEPT_UNKNOWN
    return found


def _before(now: datetime, days: int) -> datetime:
    # No date precedes year 1.
    return now - timedelta(days=min(days, (now - datetime.min.replace(tzinfo=now.tzinfo)).days))


class RetentionStore(Protocol):
    """The records of a kind that is not kept for ever, in pieces of bounded size.

    Removable before a moment are:

    - deployments that were created before it, are not running, and are not needed. Needed is
      the newest deployment of a phone; the last deployment of a revision on a phone whose
      outcome is certain, if at most three other revisions were put onto the phone later;
      what a rollback of the phone would deploy again, however many revisions with the current
      text was deployed in between; and, of the deployments before the moment, the last one of the
      phone that did not fail, and the last one whose file was certainly in place;
    - batches that ended before it, with their phones;
    - fetches and audit entries that were recorded before it;
    - revisions that a newer revision of their profile replaced before it, and that no
      deployment and no batch that has not ended names;
    - sessions that ended or expired before it (milliseconds);
    - counted guesses whose last one was before it (milliseconds), for names that no account has;
    - changes of the state of a phone before it that another change followed until then;
    - drills that were recorded before it, but for the newest one of the phone;
    - numbers of deployments of days that began before it.
    """

    async def look(
        self, kind: Expiring, before: Moment, limit: int, *, after: Place | None = None
    ) -> Piece | None:
        """The next piece after ``after``, or None at the end: at most ``limit`` records, or one
        phone with all its deployments. Changes and locks nothing."""

    async def remove(
        self, kind: Expiring, before: Moment, piece: Piece, *, after: Place | None = None
    ) -> int:
        """Remove what is removable after ``after`` up to the end of ``piece``, or its ``keys``,
        in one statement; the number of records. Deployments since ``look`` make no other one
        needed."""


class RetentionTransaction(Protocol):
    """Stores that retention reads and writes."""

    @property
    def retention(self) -> RetentionStore: ...
    @property
    def fleet(self) -> FleetStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...


@dataclass(frozen=True)
class Prune:
    """Removes records that are older than the settings allow. A pause follows each piece that
    removes something, as long as the piece took, so that other transactions run in between."""

    database: ReadAndWrite[RetentionTransaction]
    keep: KeepDays
    clock: Clock
    pause: Pause

    async def in_turn(self) -> list[Pruned] | None:
        """Prune; None if any process did within six hours. Raises ``Unavailable``."""
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            wait = await tx.rates.add("retention", EVERY, millis(self.clock()))
        return None if wait else await self()

    async def __call__(self, *, dry_run: bool = False) -> list[Pruned]:
        """Prune now; returns the number of removed records per kind. With ``dry_run`` it changes
        nothing, and a revision counts only if no deployment names it now. If a kind fails, its
        error is reported and the other kinds are pruned."""
        now = self.clock()
        done = []
        if not dry_run:
            # Before the deployments of these days are removed.
            with suppress(Unavailable):
                await count_days(self.database, now)
        for kind, before in limits(self.keep, now).items():
            count, message = 0, None
            try:
                async for removed in self._pieces(kind, before, dry_run=dry_run):
                    count += removed
                    if self.clock() - now > _LONGEST:
                        break
            except Unavailable as error:
                message = error.message
            done.append(Pruned(kind, count, message))
        return done

    async def _pieces(self, kind: Expiring, before: Moment, *, dry_run: bool) -> AsyncIterator[int]:
        limit = ONE_BATCH if kind is Expiring.BATCHES else PIECE
        after: Place | None = None
        while True:
            async with self.database.read() as tx:
                piece = await tx.retention.look(kind, before, limit, after=after)
            if piece is None:
                return
            if dry_run or not piece.removable:
                yield piece.removable
            else:
                for part in piece.parts():
                    yield await self._remove(kind, before, part, after)
            after = piece.last

    async def _remove(
        self, kind: Expiring, before: Moment, piece: Piece, after: Place | None
    ) -> int:
        began = self.clock()
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            removed = await tx.retention.remove(kind, before, piece, after=after)
            if removed:
                fields: dict[str, Value] = {"records": removed, "before": before}
                tx.trail.note(Event("retention.pruned", "retention", kind.value, fields))
        took = (self.clock() - began).total_seconds()
        await self.pause(min(_LONGEST_PAUSE, max(0.0, took)))
        return removed
