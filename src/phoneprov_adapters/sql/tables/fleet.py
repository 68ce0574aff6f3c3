"""What was seen of phones, and deployments by day."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table

from phoneprov_adapters.sql.tables.records import metadata, moment, string, table_of, text, uuid
from phoneprov_core.fleet.states import SeenPhone


def _phone(*, primary_key: bool = False) -> Column[str]:
    inventory = ForeignKey("phones.mac", ondelete="CASCADE")
    return Column("mac", string(17), inventory, primary_key=primary_key, nullable=False)


phone_states = table_of(
    SeenPhone,
    "phone_states",
    _phone(primary_key=True),
    Index(None, "states", "reported_load", "mac"),
    key="mac",
    listed=False,
    since=string(24),
    states=text,
    file=string(16),
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
