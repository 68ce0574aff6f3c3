"""The queries of Asterisk, and of workers of batches, use indexes only, on both databases."""

import sqlite3
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy.dialects import sqlite

from phoneprov_adapters.sql.engines.connection import Compiler
from phoneprov_adapters.sql.engines.postgres_reading import compiled_for
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.features.batch_statements import FIRST_PHONES, TRIED
from phoneprov_adapters.sql.stores.features.batches import _FIND
from phoneprov_adapters.sql.stores.features.desks import _UNUSED
from phoneprov_adapters.sql.stores.features.lines import AT, EARLIER, FIND, OF_USER, PHONES_OF
from phoneprov_adapters.sql.stores.features.retention import _look
from phoneprov_adapters.sql.stores.switching import _KEEP_USE, _LOGGED_IN_SINCE
from phoneprov_core.features.retention import Expiring
from support.data_folder import create_database

VALUES = {
    "mac": "00:1B:D4:00:00:01",
    "kind": "chan_sccp",
    "number": "101",
    "user": "00000000-0000-4000-8000-000000000001",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "the_uuid": "00000000-0000-4000-8000-000000000001",
    "the_first": 5,
    "after": 0,
    "most": 500,
    "the_mac": "00:1B:D4:00:00:01",
    "the_number": 5,
    "use": "{}",
    "since": "2026-01-31T08:15:30.000Z",
    "besides": "00:1B:D4:00:00:01",
    "owner": "00000000-0000-4000-8000-000000000001",
    "the_profile": "",
    "now": "2026-01-31T08:15:30.000Z",
}
STATEMENTS = pytest.mark.parametrize(
    "statement",
    [
        AT,
        EARLIER,
        FIND,
        OF_USER,
        PHONES_OF,
        _FIND,
        FIRST_PHONES,
        TRIED,
        _KEEP_USE,
        _LOGGED_IN_SINCE,
        _UNUSED,
    ],
    ids=[
        "at",
        "earlier",
        "find",
        "user",
        "of",
        "batch",
        "first",
        "tried",
        "use",
        "login",
        "unused",
    ],
)


@STATEMENTS
def test_sqlite_scans_no_table(tmp_path: Path, statement: Statement) -> None:
    compiled = Compiler(sqlite.dialect())(statement)
    with sqlite3.connect(create_database(tmp_path)) as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.parameters(VALUES)
        ).fetchall()
    scanned = [step[3] for step in plan if step[3].startswith("SCAN") and "subquer" not in step[3]]
    assert scanned == [], plan


@STATEMENTS
async def test_postgres_scans_no_table(url: str, statement: Statement) -> None:
    compiled = compiled_for(statement)
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        # Empty tables would be scanned: the question is whether the indexes fit.
        await connection.execute("SET enable_seqscan = off")
        plan = await connection.fetch(f"EXPLAIN {compiled.sql}", *compiled.parameters(VALUES))
    finally:
        await connection.close()
    assert not [line[0] for line in plan if "Seq Scan" in line[0]], plan


def test_revision_without_deployments_is_found_by_an_index(tmp_path: Path) -> None:
    statement = _look(Expiring.REVISIONS, after=True)
    values = {"before": "2026-01-31T08:15:30.000Z", "after_0": "", "limit": 500}
    compiled = Compiler(sqlite.dialect())(statement)
    with sqlite3.connect(create_database(tmp_path)) as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.parameters(values)
        ).fetchall()

    assert any("(profile_uuid=? AND revision=?)" in step[3] for step in plan), plan
