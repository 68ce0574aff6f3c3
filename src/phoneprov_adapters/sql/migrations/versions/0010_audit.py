"""The audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0007"
branch_labels = None
depends_on = None


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("at", _string(24), nullable=False),
        sa.Column("actor_uuid", _string(36)),
        sa.Column("actor", sa.Text()),
        sa.Column("client_ip", _string(45)),
        sa.Column("request_id", _string(64)),
        sa.Column("action", _string(64), nullable=False),
        sa.Column("resource", _string(32), nullable=False),
        sa.Column("resource_id", _string(255)),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("traceparent", _string(55)),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_audit")),
    )
    for columns in (
        ["at", "uuid"],
        ["actor_uuid", "at", "uuid"],
        ["action", "at", "uuid"],
        ["resource", "at", "uuid"],
        ["resource_id", "at", "uuid"],
    ):
        op.create_index(op.f("ix_audit_" + "_".join(columns)), "audit", columns)


def downgrade() -> None:
    op.drop_table("audit")
