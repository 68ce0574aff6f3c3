"""The audit trail: changes with their actors, failed logins and refusals; level 0."""

from typing import Annotated, cast

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.people.audit import Audit, AuditEntry, EntriesQuery
from phoneprov_http.envelope import ROWS, Bare
from phoneprov_http.routes.handlers import ApiRequest, Query, Routes, level_0


class TrailMetadata(Struct, frozen=True):
    """The part of the audit trail that a search for words has read."""

    searched_to: (
        Annotated[Uuid, schema("With `q`: the oldest entry that the search has compared")]
        | UnsetType
    ) = UNSET


class Trail(Bare[list[AuditEntry]]):
    """Audit entries."""

    data: Annotated[list[AuditEntry], schema("The entries")]
    metadata: TrailMetadata


def audit_routes(audit: Audit) -> Routes:
    """``/audit``."""
    routes = Routes("Audit", guards=[level_0])

    @routes.get("/audit", raises=[NotFound], opt={ROWS: AuditEntry})
    async def audit_entries(request: ApiRequest, wanted: Query[EntriesQuery]) -> Trail:
        """Read the audit trail. Changes and security events, newest first, at most 1000 rows.
        `before` with the last row, or with `searched_to`, continues the list. As CSV all rows."""
        if request.wants_table:
            every = await audit.every(request.user, wanted)
            return Trail(True, "", cast("list[AuditEntry]", every), TrailMetadata())
        metadata = TrailMetadata()
        if wanted.q:
            result = await audit.search(request.user, wanted)
            rows = result.entries
            if result.searched_to is not None:
                metadata = TrailMetadata(result.searched_to)
        else:
            rows = await audit.newest(request.user, wanted, wanted.limit)
        message = f"{len(rows)} audit entry(s) found"
        return Trail(True, message, [one.entry for one in rows], metadata)

    return routes
