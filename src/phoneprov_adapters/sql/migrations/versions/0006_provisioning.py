"""Provisioning: served files, requests of phones, phones outside the inventory."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "served_files",
        sa.Column("name_key", _string(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("content_key_id", _string(16), nullable=False),
        sa.Column("attempt", _string(36), nullable=False),
        sa.PrimaryKeyConstraint("name_key", name=op.f("pk_served_files")),
    )
    op.create_index(
        op.f("ix_served_files_content_key_id_name_key"),
        "served_files",
        ["content_key_id", "name_key"],
    )
    op.create_table(
        "fetches",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("mac", _string(17)),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("transport", _string(4), nullable=False),
        sa.Column("client_ip", _string(45), nullable=False),
        sa.Column("result", _string(16), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_fetches")),
    )
    op.create_index(
        op.f("ix_fetches_mac_created_at_uuid"), "fetches", ["mac", "created_at", "uuid"]
    )
    op.create_index(op.f("ix_fetches_created_at_uuid"), "fetches", ["created_at", "uuid"])
    op.create_table(
        "discovered_phones",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("client_ip", _string(45), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("first_seen_at", _string(24), nullable=False),
        sa.Column("last_seen_at", _string(24), nullable=False),
        sa.Column("names", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_discovered_phones")),
    )
    for column in ("first_seen_at", "last_seen_at"):
        op.create_index(
            op.f(f"ix_discovered_phones_{column}_mac"), "discovered_phones", [column, "mac"]
        )


def downgrade() -> None:
    for name in ("discovered_phones", "fetches", "served_files"):
        op.drop_table(name)
