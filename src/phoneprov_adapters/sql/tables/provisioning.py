"""Files that phones fetch, the record of their requests, and phones outside the inventory."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Table, Text

from phoneprov_adapters.sql.tables.columns import metadata, moment, string, uuid

served_files = Table(
    "served_files",
    metadata,
    Column("name_key", string(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("content_sealed", LargeBinary, nullable=False),
    Column("content_key_id", string(16), nullable=False),
    Column("attempt", string(36), nullable=False),
    Index(None, "content_key_id", "name_key"),
)

fetches = Table(
    "fetches",
    metadata,
    uuid(),
    Column("mac", string(17)),
    Column("name", Text, nullable=False),
    Column("transport", string(4), nullable=False),
    Column("client_ip", string(45), nullable=False),
    Column("result", string(16), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    moment("created_at"),
    Index(None, "mac", "created_at", "uuid"),
    Index(None, "created_at", "uuid"),
)

discovered_phones = Table(
    "discovered_phones",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("client_ip", string(45), nullable=False),
    Column("model", Text),
    moment("first_seen_at"),
    moment("last_seen_at"),
    Column("names", Text, nullable=False),
    Index(None, "first_seen_at", "mac"),
    Index(None, "last_seen_at", "mac"),
)
