"""Columns and types that several tables share."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


# Columns that are searched or sorted are compared byte by byte in both databases: PostgreSQL's
# default collation depends on the operating system, and an upgrade of that breaks indexes.
text = Text().with_variant(Text(collation="C"), "postgresql")


def string(length: int) -> String:
    """Text with a maximum number of characters, compared byte by byte."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def uuid() -> Column[str]:
    """The primary key of a table."""
    return Column("uuid", string(36), primary_key=True)


def moment(name: str, *, nullable: bool = False) -> Column[str]:
    """A column for a shown moment."""
    return Column(name, string(24), nullable=nullable)


def search() -> Column[str]:
    """The normalised text of the searched fields of a row."""
    return Column("search", text, nullable=False)


def listed(table: str, key: str, *filters: str) -> tuple[SchemaItem, SchemaItem]:
    """The index of a searched list. SQLite searches in the index alone; PostgreSQL, which bounds
    the size of an entry, searches in the rows."""
    columns = ("created_at", key)
    return (
        _only_on("sqlite", Index(f"ix_{table}_listed", *columns, "search", *filters)),
        _only_on("postgresql", Index(None, *columns)),
    )


def _only_on(dialect: str, index: Index) -> SchemaItem:
    index.info["dialect"] = dialect
    return index.ddl_if(dialect=dialect)


def sealed_hash() -> tuple[Column[bytes], Column[str]]:
    """The encrypted SHA-256 of a configuration. With a plain one, every reader of the database
    could try out short secrets. Null if it was not stored (before schema 0005)."""
    return Column("sha256_sealed", LargeBinary), Column("sha256_key_id", string(16))


def owner(name: str, table: str, **options: Any) -> Column[str]:
    """The record that owns this one, which is deleted with it."""
    reference = ForeignKey(f"{table}.uuid", ondelete="CASCADE")
    return Column(name, string(36), reference, nullable=False, **options)


def user(**options: Any) -> Column[str]:
    """The account that owns the record."""
    return owner("user_uuid", "users", **options)
