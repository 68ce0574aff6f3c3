"""States of phones, drills, numbers of deployments, and files that phones fetch."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, Table, Text

from phoneprov_adapters.sql.tables.records import metadata, moment, string, table_of, text, uuid
from phoneprov_core.features.fleet.states import SeenPhone
from phoneprov_core.features.lines.drills import Drill
from phoneprov_core.features.serving.model import DiscoveredPhone, Fetch


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

drills = table_of(
    Drill,
    "drills",
    Index(None, "mac", "created_at", "uuid"),
    # Where a line was at a moment.
    Index(None, "line", "created_at"),
    line=string(80),
    result=string(16),
)

deployment_days = Table(
    "deployment_days",
    metadata,
    Column("day", string(10), primary_key=True),
    Column("outcome", string(16), primary_key=True),
    Column("deployments", BigInteger, nullable=False),
)


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
