"""The audit trail."""

from __future__ import annotations

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter

from phoneprov_core.audit.model import AuditEntry, WantedEntries
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.kernel.ids import UUID
from phoneprov_core.kernel.store import Listing
from phoneprov_http.envelope import Listed, listed
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.parameters import LINE, ApiRequest, Limit

MOST = 1000
"""Number of rows of a response without ``limit``."""

_MOMENT = {"format": "date-time", "examples": ["2026-01-31T08:15:30.250Z"]}
Since = Annotated[
    str | None,
    QueryParameter(description="Only entries of this moment or later", schema_extra=_MOMENT),
]
Until = Annotated[
    str | None, QueryParameter(description="Only entries before this moment", schema_extra=_MOMENT)
]
OfActor = Annotated[
    str | None,
    QueryParameter(
        description="Only entries of this account; all zeros for the service and its command line",
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]
OfAction = Annotated[
    str | None,
    QueryParameter(
        description="Only this action",
        schema_extra={"examples": ["phone.updated"], "pattern": LINE},
        max_length=255,
    ),
]
OfResource = Annotated[
    str | None,
    QueryParameter(
        description="Only this kind of resource",
        schema_extra={"examples": ["phone"], "pattern": LINE},
        max_length=255,
    ),
]
OfResourceId = Annotated[
    str | None,
    QueryParameter(
        description="Only the resource with this identifier: a UUID, or the MAC address of a phone",
        max_length=255,
        schema_extra={"pattern": LINE},
    ),
]
Before = Annotated[
    str | None,
    QueryParameter(
        description="Only entries before this one (its UUID)",
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]


def audit_routes(audit: Audit) -> Router:
    """``/audit``."""

    @get("/", guards=[level_0], summary="Read the audit trail", responses=failures(404))
    async def audit_entries(
        request: ApiRequest,
        limit: Limit = None,
        since: Since = None,
        until: Until = None,
        actor_uuid: OfActor = None,
        action: OfAction = None,
        resource: OfResource = None,
        resource_id: OfResourceId = None,
        before: Before = None,
    ) -> Listed[AuditEntry]:
        """Changes and events of security, newest first. At most 1000 rows; `before` continues
        after the last one."""
        wanted = WantedEntries(
            since=since,
            until=until,
            actor_uuid=actor_uuid,
            action=action,
            resource=resource,
            resource_id=resource_id,
            before=before,
        )
        found = await audit.newest(request.user, wanted, limit or MOST)
        return listed(Listing([one.entry for one in found]), "audit entry")

    return Router("/audit", route_handlers=[audit_entries], tags=["Audit"])
