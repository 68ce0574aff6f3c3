"""The environment of alembic; ``migrate.py`` makes the connection and its transaction."""

from alembic import context

from phoneprov_adapters.sql.tables import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
context.run_migrations()
