"""Batches: switching or restarting many phones under one record."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("action", _string(16), nullable=False),
        sa.Column("profile_uuid", _string(36), nullable=True),
        sa.Column("profile_name", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("software_type", sa.Text(), nullable=True),
        sa.Column("at_once", sa.Integer(), nullable=False),
        sa.Column("per_minute", sa.Integer(), nullable=True),
        sa.Column("stop_after_failures", sa.Integer(), nullable=True),
        sa.Column("wait_minutes", sa.Integer(), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("state", _string(16), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("ended_at", _string(24), nullable=True),
        sa.Column("holder", _string(36), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_batches")),
    )
    op.create_index(op.f("ix_batches_created_at_uuid"), "batches", ["created_at", "uuid"])
    op.create_index(op.f("ix_batches_ended_at"), "batches", ["ended_at"])

    op.create_table(
        "batch_phones",
        sa.Column("batch_uuid", _string(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("state", _string(16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("cut_off", sa.Integer(), nullable=False),
        sa.Column("attempt_uuid", _string(36), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("waiting_since", _string(24), nullable=True),
        sa.Column("deployment_uuid", _string(36), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("started_at", _string(24), nullable=True),
        sa.Column("ended_at", _string(24), nullable=True),
        sa.ForeignKeyConstraint(
            ["batch_uuid"],
            ["batches.uuid"],
            name=op.f("fk_batch_phones_batch_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("batch_uuid", "position", name=op.f("pk_batch_phones")),
        sa.UniqueConstraint("batch_uuid", "mac", name=op.f("uq_batch_phones_batch_uuid_mac")),
    )
    op.create_index(
        op.f("ix_batch_phones_batch_uuid_state_not_before_position"),
        "batch_phones",
        ["batch_uuid", "state", "not_before", "position"],
    )


def downgrade() -> None:
    op.drop_index(
        op.f("ix_batch_phones_batch_uuid_state_not_before_position"), table_name="batch_phones"
    )
    op.drop_table("batch_phones")
    op.drop_index(op.f("ix_batches_ended_at"), table_name="batches")
    op.drop_index(op.f("ix_batches_created_at_uuid"), table_name="batches")
    op.drop_table("batches")
