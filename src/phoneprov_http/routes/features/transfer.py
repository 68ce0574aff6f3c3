"""Import of tables, and edits of many records; level 0."""

from typing import Annotated

from litestar.params import PathParameter

from phoneprov_core.features.sync.model import ImportOrSync, SyncRefused
from phoneprov_core.features.transfer.edits import Edited, EditedKind, EditRecords, EditRequest
from phoneprov_core.features.transfer.texts import ImportRequest, ImportResult, Kind
from phoneprov_http.envelope import Envelope, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, level_0

KindOfRecords = Annotated[
    str,
    PathParameter(
        description="The kind of records",
        schema_extra={"enum": list(EditedKind.__args__)},
    ),
]
KindOfTable = Annotated[
    str,
    PathParameter(
        description="The kind of records",
        schema_extra={"enum": list(Kind.__args__)},
    ),
]


def transfer_routes(import_or_sync: ImportOrSync, edit: EditRecords) -> Routes:
    """``/imports`` and ``/edits``."""
    routes = Routes("Import and bulk edit", guards=[level_0])

    @routes.post("/imports/{kind:str}", status_code=200, raises=[SyncRefused])
    async def import_table(
        request: ApiRequest, kind: KindOfTable, data: Body[ImportRequest]
    ) -> Envelope[ImportResult]:
        """Import a table. Create and change records from the rows of a table in CSV. A row that
        names an existing record changes it, any other row creates one; nothing is deleted. If a
        row is wrong, nothing is written, unless `keep_going`. With `dry_run` nothing is written.
        With `source` the rows are people of a directory: each row is for the account with the same
        `key` of this source."""
        result = await import_or_sync(request.user, kind, data)
        return record("Table imported" if result.written else "Nothing was written", result)

    @routes.post("/edits/{kind:str}", status_code=200)
    async def edit_records(
        request: ApiRequest, kind: KindOfRecords, data: Body[EditRequest]
    ) -> Envelope[Edited]:
        """Edit many records. Sets the fields that are sent on all records. A record that refuses
        the fields, or whose `version` differs, is not changed; the response names it. Up to 200
        records are changed in one transaction. With `restart` a batch then restarts the active
        phones. With `dry_run` nothing is written, and the response has the expected result of each
        record."""
        edited = await edit(request.user, kind, data)
        message = f"{edited.changed} record(s) changed" if edited.written else "Nothing was written"
        return record(message, edited)

    return routes
