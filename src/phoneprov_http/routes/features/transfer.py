"""Import of tables; level 0."""

from typing import Annotated

from litestar.params import PathParameter

from phoneprov_core.features.sync.model import SyncRefused
from phoneprov_core.features.sync.texts import ImportOrSync
from phoneprov_core.features.transfer.texts import ImportRequest, ImportResult, Kind
from phoneprov_http.envelope import Envelope, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, level_0

KindOfTable = Annotated[
    str,
    PathParameter(
        description="The kind of records",
        schema_extra={"enum": list(Kind.__args__)},
    ),
]


def import_routes(import_or_sync: ImportOrSync) -> Routes:
    """``/imports``."""
    routes = Routes("Import", guards=[level_0])

    @routes.post("/imports/{kind:str}", status_code=200, raises=[SyncRefused])
    async def import_table(
        request: ApiRequest, kind: KindOfTable, data: Body[ImportRequest]
    ) -> Envelope[ImportResult]:
        """Import a table. Create and change records from the rows of a table in CSV. A row that
        names an existing record changes it, any other row creates one; nothing is deleted. If a
        row is wrong, nothing is written, unless `keep_going`. With `dry_run` nothing is written.
        With `source` the users of the table are those of a directory: a row means the account with
        the same `key` of this source."""
        result = await import_or_sync(request.user, kind, data)
        return record("Table imported" if result.written else "Nothing was written", result)

    return routes
