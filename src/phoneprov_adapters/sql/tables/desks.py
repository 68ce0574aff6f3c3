"""Desks: who is logged in at which phone."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Table

from phoneprov_adapters.sql.tables.columns import metadata, moment, string

# Users, profiles and phones may be deleted before the phone has another configuration: the desk
# stays until then, so there is no foreign key.
desks = Table(
    "desks",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("default_profile_uuid", string(36)),
    Column("hotdesk", Boolean, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("user_uuid", string(36)),
    Column("profile_uuid", string(36)),
    moment("since", nullable=True),
    moment("until", nullable=True),
    Column("due", string(16)),
    Column("change_uuid", string(36)),
    Column("change_user_uuid", string(36)),
    Column("not_before", BigInteger, nullable=False),
    Index(None, "user_uuid"),
    Index(None, "change_user_uuid"),
    Index(None, "until"),
    Index(None, "due"),
    Index(None, "change_uuid"),
)
