"""The queries of Asterisk, and of workers of batches, use indexes only, on both databases."""

import sqlite3
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from contract.stores.test_audit import an_entry
from phoneprov_adapters.sql.engines.connection import Compiler
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.postgres_writing import compiled_for
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.features.batch_statements import FIRST_PHONES, TRIED
from phoneprov_adapters.sql.stores.features.batches import _FIND
from phoneprov_adapters.sql.stores.features.desks import _UNUSED
from phoneprov_adapters.sql.stores.features.history import _rows as _phone_then
from phoneprov_adapters.sql.stores.features.lines import AT, EARLIER, FIND, OF_USER, PHONES_OF
from phoneprov_adapters.sql.stores.features.numbers import first_number
from phoneprov_adapters.sql.stores.features.retention import _look
from phoneprov_adapters.sql.stores.switching import _KEEP_USE, _LOGGED_IN_SINCE
from phoneprov_adapters.sql.tables.people import users
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.retention import Expiring
from support.data_folder import create_database
from support.phone_records import a_deployment, a_phone
from support.records import a_mac

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
    "at": "2026-01-31T08:15:30.000Z",
    "limit": 500,
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
        _phone_then(one=True),
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
        "then",
    ],
)


@STATEMENTS
def test_sqlite_scans_no_table(tmp_path: Path, statement: Statement) -> None:
    compiled = Compiler(sqlite.dialect())(statement)
    with sqlite3.connect(create_database(tmp_path)) as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.parameters(VALUES)
        ).fetchall()
    steps = [step[3] for step in plan]
    made = {
        one.rpartition(" ")[2] for one in steps if one.startswith(("CO-ROUTINE", "MATERIALIZE"))
    }
    scanned = [
        step
        for step in steps
        if step.startswith("SCAN") and "subquer" not in step and step.split()[1] not in made
    ]
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


async def test_first_number_of_a_user_is_found_by_the_links_of_the_user(url: str) -> None:
    compiled = compiled_for(select(users.c.uuid, first_number(users.c.uuid)))
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        # With a link for each user, and before the database has counted them.
        await connection.execute(
            """
            CREATE TEMPORARY TABLE made AS
            SELECT lpad(n::text, 36, '0') AS uuid, lpad(n::text, 24, '0') AS at
            FROM generate_series(1, 9000) AS n;
            INSERT INTO users (uuid, first_name, last_name, username, email, lang, timezone,
              is_active, created_at, updated_at, created_ip, updated_ip, username_key, email_key,
              search)
            SELECT uuid, '', '', uuid, uuid, '', '', true, at, at, '', '', uuid, uuid, '' FROM made;
            INSERT INTO extensions (uuid, type, extension, name, password_sealed, password_key_id,
              voicemail, is_active, created_at, updated_at, created_ip, updated_ip, search)
            SELECT uuid, '', uuid, '', '', '', false, true, at, at, '', '', '' FROM made;
            INSERT INTO user_extensions (uuid, user_uuid, extension_uuid, created_at)
            SELECT uuid, uuid, uuid, at FROM made
            """
        )
        plan = await connection.fetch(f"EXPLAIN {compiled.sql}", *compiled.parameters({}))
    finally:
        await connection.close()
    text = "\n".join(row[0] for row in plan)
    assert "user_extensions_user_uuid" in text, text
    assert "user_extensions_created_at" not in text, text


async def test_phones_of_a_moment_are_read_without_the_other_rows_of_a_table(
    database: PostgresDatabase,
) -> None:
    """A join reads a whole table from the number of rows on where this seems cheaper."""
    async with database.write() as tx:
        await tx.phones.add(a_phone(1))
        await tx.deployments.add(a_deployment(1, a_mac(1)))
        await tx.desks.put(DeskRecord(a_mac(1)))
        seen = SeenPhone(a_mac(1), FleetState.FINE, "2026-01-31T08:15:30.000Z")
        await tx.fleet.put(seen, is_change=True)
        await tx.audit.add(an_entry(1, resource="desk", action="desk.updated"))
    compiled = compiled_for(_phone_then(one=False))
    connection = await asyncpg.connect(database.url.replace("+asyncpg", ""))
    try:
        for table, of_each in {
            "phones": 1, "desks": 1, "deployments": 5, "phone_state_changes": 2, "audit": 5
        }.items():  # fmt: skip
            await connection.execute(
                f"""
                INSERT INTO {table}
                SELECT (jsonb_populate_record(one, jsonb_build_object(
                  'uuid', lpad((phone * 100 + n)::text, 36, '0'), 'mac', lpad(phone::text, 17, '0'),
                  'resource_id', lpad(phone::text, 17, '0'), 'number', n + 10))).*
                FROM (SELECT one FROM {table} AS one LIMIT 1),
                  generate_series(1, 3000) AS phone, generate_series(1, {of_each}) AS n;
                ANALYZE {table}
                """  # noqa: S608
            )
        values = {**VALUES, "after": "", "limit": 1000}
        plan = await connection.fetch(f"EXPLAIN {compiled.sql}", *compiled.parameters(values))
    finally:
        await connection.close()
    assert not [line[0] for line in plan if "Seq Scan" in line[0]], plan


def test_logins_of_an_owner_are_found_without_the_other_deployments(tmp_path: Path) -> None:
    compiled = Compiler(sqlite.dialect())(_LOGGED_IN_SINCE)
    with sqlite3.connect(create_database(tmp_path)) as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.parameters({**VALUES, "besides": ""})
        ).fetchall()

    assert any("ix_deployments_logins" in step[3] for step in plan), plan


async def test_logins_of_an_owner_are_found_without_the_other_deployments_in_postgres(
    url: str,
) -> None:
    compiled = compiled_for(_LOGGED_IN_SINCE)
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        plan = await connection.fetch(f"EXPLAIN {compiled.sql}", *compiled.parameters(VALUES))
    finally:
        await connection.close()
    assert any("ix_deployments_logins" in line[0] for line in plan), plan


def test_revision_without_deployments_is_found_by_an_index(tmp_path: Path) -> None:
    statement = _look(Expiring.REVISIONS, after=True)
    values = {"before": "2026-01-31T08:15:30.000Z", "after_0": "", "limit": 500}
    compiled = Compiler(sqlite.dialect())(statement)
    with sqlite3.connect(create_database(tmp_path)) as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.parameters(values)
        ).fetchall()

    assert any("(profile_uuid=? AND revision=?)" in step[3] for step in plan), plan
