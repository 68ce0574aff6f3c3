"""What was seen of phones, and deployments by day."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from phoneprov_adapters.sql.tables.records import metadata, moment, string, uuid


def _phone(*, primary_key: bool = False) -> Column[str]:
    inventory = ForeignKey("phones.mac", ondelete="CASCADE")
    return Column("mac", string(17), inventory, primary_key=primary_key, nullable=False)


phone_states = Table(
    "phone_states",
    metadata,
    _phone(primary_key=True),
    Column("state", string(16), nullable=False),
    moment("since"),
    moment("seen_at", nullable=True),
    Column("answers", Boolean),
    Column("misses", Integer, nullable=False),
    Column("reported_mac", string(17)),
    Column("reported_model", Text),
    Column("reported_load", Text),
    Column("serial", Text),
    Column("is_registered", Boolean),
    Column("file", string(16), nullable=False),
    Index(None, "state", "reported_load", "mac"),
)

phone_state_changes = Table(
    "phone_state_changes",
    metadata,
    uuid(),
    _phone(),
    Column("state", string(16), nullable=False),
    moment("at"),
    Index(None, "mac", "at", "uuid"),
    Index(None, "at", "uuid"),
)

deployment_days = Table(
    "deployment_days",
    metadata,
    Column("day", string(10), primary_key=True),
    Column("outcome", string(16), primary_key=True),
    Column("deployments", BigInteger, nullable=False),
)
