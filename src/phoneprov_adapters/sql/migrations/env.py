"""The environment of alembic; the connection comes from ``migrate.py``."""

from alembic import context
from sqlalchemy import exc, inspect, text

from phoneprov_adapters.sql.tables import metadata

connection = context.config.attributes["connection"]
shared = connection.dialect.name == "postgresql"
context.configure(
    connection=connection,
    target_metadata=metadata,
    # PostgreSQL rolls back schema changes like others: all revisions or none.
    transaction_per_migration=not shared,
    render_as_batch=not shared,
)
if shared and not inspect(connection).has_table("alembic_version"):
    try:
        context.get_context()._ensure_version_table()  # noqa: SLF001 - no public way
        connection.commit()
    except (exc.IntegrityError, exc.ProgrammingError):
        connection.rollback()  # Another host has just created it.
if shared:
    connection.rollback()
with context.begin_transaction():
    if shared:
        connection.execute(text("SET LOCAL statement_timeout = '600s'"))
        # Of concurrent hosts one migrates, and the others wait and find the result. A revision
        # waits for the lock of another transaction for a bounded time, since all other transactions
        # would wait for the revision.
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("LOCK TABLE alembic_version IN SHARE ROW EXCLUSIVE MODE"))
    context.run_migrations()
