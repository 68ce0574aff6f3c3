"""What alembic runs; the connection comes from ``migrate.py``."""

from __future__ import annotations

from alembic import context

from phoneprov_adapters.sql.tables import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    transaction_per_migration=True,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
