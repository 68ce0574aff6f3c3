"""Who changed what, failed logins and refusals; level 0."""

from phoneprov_core.audit.model import AuditEntry, EntriesQuery
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.paging import Listing
from phoneprov_http.envelope import Listed, listed
from phoneprov_http.routes.handlers import ApiRequest, Query, Routes, level_0


def audit_routes(audit: Audit) -> Routes:
    """``/audit``."""
    routes = Routes("Audit", guards=[level_0])

    @routes.get("/audit", raises=[NotFound])
    async def audit_entries(request: ApiRequest, wanted: Query[EntriesQuery]) -> Listed[AuditEntry]:
        """Read the audit trail. Changes and events of security, newest first. At most 1000 rows;
        `before` continues after the last one."""
        found = await audit.newest(request.user, wanted, wanted.limit)
        return listed(Listing([one.entry for one in found]), "audit entry")

    return routes
