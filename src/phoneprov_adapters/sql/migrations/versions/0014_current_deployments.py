"""The current deployment of each phone, for the list of them.

Finding them among all deployments takes seconds with a million phones.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_FILL = """
INSERT INTO current_deployments (mac, number, created_at, uuid)
SELECT mac, number, created_at, uuid FROM deployments
WHERE place IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM deployments AS later
  WHERE later.mac = deployments.mac AND later.number > deployments.number
    AND later.place IS NOT NULL)
"""


def upgrade() -> None:
    op.create_table(
        "current_deployments",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("uuid", _string(36), nullable=False),
        sa.PrimaryKeyConstraint("mac", name="pk_current_deployments"),
    )
    op.execute(_FILL)
    op.create_index(
        "ix_current_deployments_created_at_uuid",
        "current_deployments",
        ["created_at", "uuid"],
    )


def downgrade() -> None:
    op.drop_table("current_deployments")


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
