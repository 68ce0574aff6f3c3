"""The audit trail."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, Text

from phoneprov_adapters.sql.tables.columns import metadata, moment, string, uuid

# It refers to no other table: entries outlive what they name, and adding one waits for no row.
audit = Table(
    "audit",
    metadata,
    uuid(),
    moment("at"),
    Column("actor_uuid", string(36)),
    Column("actor", Text),
    Column("client_ip", string(45)),
    Column("request_id", string(64)),
    Column("action", string(64), nullable=False),
    Column("resource", string(32), nullable=False),
    Column("resource_id", string(255)),
    Column("changes", Text, nullable=False),
    Column("traceparent", string(55)),
    Index(None, "at", "uuid"),
    Index(None, "actor_uuid", "at", "uuid"),
    Index(None, "action", "at", "uuid"),
    Index(None, "resource", "at", "uuid"),
    Index(None, "resource_id", "at", "uuid"),
)
