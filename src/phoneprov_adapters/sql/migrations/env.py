"""What alembic runs; the connection comes from ``migrate.py``."""

from __future__ import annotations

from alembic import context
from sqlalchemy import func, select, text

from phoneprov_adapters.sql.engines.postgres import lock_number
from phoneprov_adapters.sql.tables import metadata

connection = context.config.attributes["connection"]
shared = connection.dialect.name == "postgresql"
context.configure(
    connection=connection,
    target_metadata=metadata,
    # PostgreSQL takes back a schema's changes like any other: all steps or none.
    transaction_per_migration=not shared,
    render_as_batch=not shared,
)
with context.begin_transaction():
    if shared:
        connection.execute(text("SET LOCAL statement_timeout = '600s'"))
        # Of hosts that start together one migrates and the others wait and find it done. Nor
        # does a step wait longer than this for somebody else's long transaction: everybody
        # else would have to wait behind it.
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(select(func.pg_advisory_xact_lock(lock_number("migrations"))))
    context.run_migrations()
