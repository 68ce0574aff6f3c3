"""The outcome of the newest deployment of each phone, for the list of phones.

On SQLite the index of the list holds it, too.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_LISTED = (
    "created_at",
    "mac",
    "search",
    "brand",
    "model",
    "location",
    "phone_vlan",
    "software_version",
    "software_type",
    "is_active",
)
_FILL = """
UPDATE phones SET
  last_outcome = (SELECT outcome FROM deployments WHERE deployments.mac = phones.mac
                  ORDER BY number DESC LIMIT 1),
  last_number = (SELECT max(number) FROM deployments WHERE deployments.mac = phones.mac)
WHERE EXISTS (SELECT 1 FROM deployments WHERE deployments.mac = phones.mac)
"""


def upgrade() -> None:
    outcome = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")
    op.add_column(
        "phones", sa.Column("last_outcome", outcome, nullable=False, server_default="none")
    )
    op.add_column("phones", sa.Column("last_number", sa.BigInteger()))
    op.execute(_FILL)
    _index_list(*_LISTED, "last_outcome")


def downgrade() -> None:
    _index_list(*_LISTED)
    op.drop_column("phones", "last_number")
    op.drop_column("phones", "last_outcome")


def _index_list(*columns: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index("ix_phones_listed", table_name="phones")
        op.create_index("ix_phones_listed", "phones", list(columns))
