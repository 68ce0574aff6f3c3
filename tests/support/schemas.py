"""Schemas as SQL: the one that the tables make, and those of released versions."""

from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect
from sqlalchemy.schema import MetaData

from phoneprov_adapters.sql.engines.revisions import revision_table
from phoneprov_adapters.sql.maintenance.schema import statements_of

FOLDER = Path(__file__).parents[1] / "contract/sql/schemas"
URLS = {"sqlite": "sqlite", "postgresql": "postgresql+asyncpg"}


def schema_file(revision: str, dialect: str) -> Path:
    """The file with the schema of a revision."""
    return FOLDER / f"{revision}.{dialect}.sql"


def schema_of_tables(dialect: str) -> str:
    """The statements that make the tables of this version."""
    statements = [
        "\n".join(line.rstrip() for line in statement.strip().splitlines())
        for statement in statements_of(URLS[dialect])
    ]
    ordered: list[str] = []
    # The indexes of a table have no order.
    for is_index, group in groupby(statements, lambda statement: " INDEX " in statement):
        part = list(group)
        ordered += sorted(part) if is_index else part
    return ";\n\n".join(ordered) + ";\n"


def make_schema(connection: Connection, revision: str) -> None:
    """Make the schema of a revision in an empty database. That of a version that was not released
    yet has no file: it is the schema of the tables."""
    dialect = connection.dialect.name
    file = schema_file(revision, dialect)
    content = file.read_text("utf-8") if file.exists() else schema_of_tables(dialect)
    with connection.begin():
        for statement in content.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        connection.execute(revision_table.insert().values(version_num=revision))


def fill(connection: Connection, rows: int = 3) -> None:
    """Add some rows to each table, without regard to their meaning: of any schema."""
    reflected = MetaData()
    with connection.begin():
        reflected.reflect(connection)
        for table in reflected.sorted_tables:
            if table.name != revision_table.name:
                connection.execute(
                    table.insert(),
                    [{c.name: _value(c, number) for c in table.c} for number in range(rows)],
                )


def _value(column: Any, number: int) -> Any:
    kind = column.type.python_type
    if kind is str:
        # The same in every column, so that references hold.
        return f"Ada{number}"
    return f"{number}".encode() if kind is bytes else kind(number % 2) if kind is bool else number


def counts(connection: Connection) -> dict[str, int]:
    """The number of rows of each table."""
    with connection.begin():
        names = inspect(connection).get_table_names()
        if not names:
            return {}
        each = (f"SELECT '{name}', count(*) FROM {name}" for name in names)  # noqa: S608
        rows = connection.exec_driver_sql(" UNION ALL ".join(each))
        return {row[0]: row[1] for row in rows}
