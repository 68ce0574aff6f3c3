"""Store ports for retention."""

from typing import Protocol

from phoneprov_core.kernel.rates import RateStore
from phoneprov_core.kernel.trail import Notes
from phoneprov_core.retention.model import Kept, Moment, Piece, Place


class RetentionStore(Protocol):
    """The records of a kind that is not kept for ever, in pieces of bounded size.

    Removable before a moment are:

    - deployments that were created before it, are not running, and are not needed. Needed is
      the newest deployment of a phone; the last deployment of a revision on a phone whose
      outcome is certain, if at most three other revisions were put onto the phone later; and
      what a rollback of the phone would deploy again, however many revisions with the current
      text came between;
    - batches that ended before it, with their phones;
    - fetches and audit entries that were recorded before it;
    - revisions that a newer revision of their profile replaced before it, and that no
      deployment and no batch that has not ended names;
    - sessions that ended or expired before it (milliseconds);
    - counted guesses whose last one was before it (milliseconds), for names that no account has.
    """

    async def look(
        self, kind: Kept, before: Moment, limit: int, *, after: Place | None = None
    ) -> Piece | None:
        """The next piece of at most ``limit`` records after ``after``, or None at the end.
        Changes and locks nothing. ``keep`` of the piece names rollback targets."""

    async def remove(
        self, kind: Kept, before: Moment, piece: Piece, *, after: Place | None = None
    ) -> int:
        """Remove what is removable after ``after`` up to the end of ``piece``, in one statement;
        the number of records. A deployment that ended or began since ``look`` does not make a
        needed one removable."""


class RetentionTransaction(Protocol):
    """Stores that retention reads and writes."""

    @property
    def retention(self) -> RetentionStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> Notes: ...
