"""Files that phones fetch, the record of their requests, and phones outside the inventory."""

from sqlalchemy import Column, Index, LargeBinary, Table, Text

from phoneprov_adapters.sql.tables.records import metadata, string, table_of
from phoneprov_core.provisioning.model import DiscoveredPhone, Fetch

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

fetches = table_of(
    Fetch,
    "fetches",
    Index(None, "mac", "created_at", "uuid"),
    required=("bytes",),
    transport=string(4),
    result=string(16),
)

discovered_phones = table_of(
    DiscoveredPhone,
    "discovered_phones",
    # The first address that asked, as limits count it.
    Column("discovered_by", string(45), nullable=False),
    Index(None, "discovered_by", "last_seen_at", "mac"),
    Index(None, "first_seen_at", "mac"),
    Index(None, "last_seen_at", "mac"),
    key="mac",
    listed=False,
)
