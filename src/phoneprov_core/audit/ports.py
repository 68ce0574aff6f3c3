"""Where audit entries are kept."""

from typing import Protocol

from phoneprov_core.audit.model import AuditEntry, TracedEntry, WantedEntries
from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.rates import RateStore


class AuditStore(Protocol):
    """Audit entries, by uuid. Entries are added and read; no method changes one."""

    async def add(self, entry: TracedEntry) -> None:
        """Keep an entry. What it names need not exist. Waits for no other transaction."""

    async def find(self, uuid: str) -> TracedEntry | None:
        """The entry, or None."""

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        """At most ``limit`` entries that agree with every field of ``wanted`` that is set,
        newest first (by ``at``, then uuid), beginning after ``before``. ``wanted.before`` is
        ignored. The cost does not depend on the number of entries."""


class AuditTransaction(Protocol):
    """The store of audit entries."""

    @property
    def audit(self) -> AuditStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...
